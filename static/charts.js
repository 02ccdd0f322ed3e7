// Draws every figure on the page with Plotly, in the colours of the style sheet, and again when they change.
"use strict";

const OPTIONS = { displayModeBar: false, responsive: true };

function withColours(value, style) {
  if (typeof value === "string") {
    return value.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  }
  if (Array.isArray(value)) return value.map((item) => withColours(item, style));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withColours(item, style)]));
  }
  return value;
}

function draw() {
  const style = getComputedStyle(document.documentElement);
  for (const chart of document.querySelectorAll("figure.chart")) {
    const { data, layout } = withColours(JSON.parse(chart.querySelector("script").textContent), style);
    layout.font.family = style.getPropertyValue("--sans");
    Plotly.react(chart.querySelector(".plot"), data, layout, OPTIONS);
  }
}

draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
