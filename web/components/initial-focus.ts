import { useRef } from 'react';

const TABBABLE = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
const FIELD =
  ':is(input:not([type="hidden"], [type="radio"]:not(:checked)), select, textarea):not(:disabled)';

/**
 * Where the focus begins in a dialog: at what comes first in it; where that is the button that closes it, since the form is still being
 * loaded, at the dialog itself, and in the form once it is there. Not after a touch, for the keyboard on the screen would come up.
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
    const isUnused = at === popup.current || at === close.current;
    if (waits.current && isUnused) form.querySelector<HTMLElement>(FIELD)?.focus();
    waits.current = false;
  };
  return { popup, close, initialFocus, begin };
}
