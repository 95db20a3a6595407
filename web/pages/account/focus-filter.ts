/** Puts the focus on a filter above the list, the first where none is named: what had it goes with what the list shows. */
export function focusFilter(name?: string): void {
  const named = name === undefined ? '' : `[name="${name}"]`;
  const field = document.querySelector(`search :is(input, select)${named}`);
  if (field instanceof HTMLElement) field.focus();
}
