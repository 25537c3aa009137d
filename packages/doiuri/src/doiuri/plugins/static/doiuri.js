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
