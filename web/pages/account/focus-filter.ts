/**
 * Focuses a filter above the list, by default the first, because the focused element disappears with the list's
 * content.
 */
export function focusFilter(name?: string): void {
  const named = name === undefined ? '' : `[name="${name}"]`;
  const field = document.querySelector(`search :is(input, select)${named}`);
  if (field instanceof HTMLElement) field.focus();
}
