import { useRef } from 'react';

const TABBABLE = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
const FIELD =
  ':is(input:not([type="hidden"], [type="radio"]:not(:checked)), select, textarea):not(:disabled)';

/**
 * Chooses the initial focus of a dialog: its first control. While the form still loads, the dialog itself has the
 * focus, and the form gets it when loaded. After a touch the form does not, because the on-screen keyboard would
 * open.
 */
export function useInitialFocus() {
  const popup = useRef<HTMLDivElement>(null);
  const close = useRef<HTMLButtonElement>(null);
  const waits = useRef(false);
  const initialFocus = (openedBy: string) => {
    const isEmpty = popup.current?.querySelector(TABBABLE) === close.current;
    waits.current = isEmpty && openedBy !== 'touch';
    return isEmpty ? popup.current : true;
  };
  const begin = (form: HTMLFormElement) => {
    const at = document.activeElement;
    const isUntouched = at === popup.current || at === close.current;
    if (waits.current && isUntouched) form.querySelector<HTMLElement>(FIELD)?.focus();
    waits.current = false;
  };
  return { popup, close, initialFocus, begin };
}
