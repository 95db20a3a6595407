import { type FocusEvent, useRef } from 'react';

/**
 * Moves the focus when a message is dismissed: to the next message, else to where it was before, else to the dialog
 * or the content of the page.
 */
export function useFocusAfter() {
  const list = useRef<HTMLSpanElement>(null);
  const before = useRef<HTMLElement>(null);
  const remember = ({ relatedTarget }: FocusEvent) => {
    const isOutside = relatedTarget instanceof HTMLElement && !list.current?.contains(relatedTarget);
    if (isOutside) before.current = relatedTarget;
  };
  const moveOn = (button: HTMLElement) => {
    const buttons: HTMLElement[] = [...(list.current?.querySelectorAll('button') ?? [])];
    const next = buttons[buttons.indexOf(button) + 1];
    const others = buttons.filter((other) => other !== button);
    const last = before.current?.isConnected ? before.current : null;
    const around = button.closest<HTMLElement>('[role$="dialog"]') ?? document.getElementById('content');
    (next ?? others.at(-1) ?? last ?? around)?.focus();
  };
  return { list, remember, moveOn };
}
