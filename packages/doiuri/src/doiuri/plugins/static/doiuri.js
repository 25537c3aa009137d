// Escape closes a card that is open because of the pointer or the keyboard (WCAG 2.2, 1.4.13)
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") {
    return;
  }
  for (const details of document.querySelectorAll(".doi-details:hover, .doi-details:focus-within")) {
    details.classList.add("doi-closed");
    const reopen = () => details.classList.remove("doi-closed");
    details.addEventListener("pointerleave", reopen, { once: true });
    details.addEventListener("focusout", reopen, { once: true });
  }
});

// Five buttons or more in a paragraph are one: its card lists the works
const blocks = new Map();
for (const button of document.querySelectorAll(".doi-more")) {
  const block = button.closest("p, li, dd, dt, td, th, caption, figcaption, h1, h2, h3, h4, h5, h6, div");
  blocks.set(block, [...(blocks.get(block) ?? []), button]);
}
for (const buttons of blocks.values()) {
  if (buttons.length < 5) {
    continue;
  }
  const cards = new Map(); // by their texts: a work may be cited twice
  for (const button of buttons) {
    const card = button.nextElementSibling;
    cards.set(card.ariaLabel, [button.ariaLabel, card.cloneNode(true)]);
  }

  const last = buttons.pop();
  buttons.forEach((button) => button.remove());
  const all = last.nextElementSibling.cloneNode();
  all.id += "-all";
  all.ariaLabel = [...cards.keys()].join("; ");
  for (const [, card] of cards.values()) {
    all.append(...card.childNodes);
  }
  last.closest(".doi-details").after(all);
  last.setAttribute("popovertarget", all.id);
  last.ariaLabel = [...cards.values()].map(([label]) => label).join("; ");
}
