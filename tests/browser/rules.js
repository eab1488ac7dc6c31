// Every control has a name, no two buttons have the same, and every text stands out from what is behind it (WCAG 2, AA).
(where) => {
  const said = [];
  const root = document.querySelector(where);
  const shown = (one) => one.getClientRects().length > 0 && getComputedStyle(one).visibility === "visible";
  const name = (one) =>
    (one.getAttribute("aria-label") || [...(one.labels || [])].map((l) => l.innerText).join(" ") || one.innerText || one.title || "").trim();
  const controls = [...root.querySelectorAll("button, input, select, textarea, [tabindex='0']")].filter(shown);
  for (const one of controls) if (!name(one)) said.push(`no name: ${one.outerHTML.slice(0, 120)}`);
  const names = controls.filter((one) => one.tagName === "BUTTON").map(name);
  for (const twice of names.filter((one, n) => names.indexOf(one) < n)) said.push(`two buttons are called ${twice}`);
  for (const one of root.querySelectorAll("select")) said.push(`the notebook takes the keys of a list: ${name(one)}`);

  const parts = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
    return colour.startsWith("color(") ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((part, n) => part * a + under[n] * (1 - a));
  const ground = (one) => {
    if (!one) return [255, 255, 255];
    const colour = parts(getComputedStyle(one).backgroundColor);
    return colour[3] === 1 ? colour.slice(0, 3) : over(colour, ground(one.parentElement));
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faded = (one) => (one ? Number(getComputedStyle(one).opacity) * faded(one.parentElement) : 1);
  const ratio = (one, style, more = 1) => {
    const behind = ground(one);
    const [r, g, b, a] = parts(style.color);
    const [high, low] = [light(over([r, g, b, a * faded(one) * more], behind)), light(behind)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const check = (one, text, style, more) => {
    const found = ratio(one, style, more);
    if (found < 4.5) said.push(`contrast ${found.toFixed(2)}: ${text.trim().slice(0, 60)}`);
  };
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const one = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !shown(one) || one.closest("style, :disabled, datalist, svg")) continue;
    check(one, walk.currentNode.data, getComputedStyle(one));
  }
  for (const one of controls.filter((one) => one.matches("input:not([type=range]), textarea") && !one.disabled)) {
    if (one.value) check(one, one.value, getComputedStyle(one));
    const hint = getComputedStyle(one, "::placeholder");
    if (one.placeholder?.trim()) check(one, one.placeholder, hint, Number(hint.opacity));
  }
  return said;
}
