import { type ReactNode, useEffect, useRef } from 'react';

/** Whoever comes to a form that was loaded goes on typing at once: in its first field, or at its button where there is none to fill. */
export function FocusedForm({ children }: { children: ReactNode }) {
  const part = useRef<HTMLDivElement>(null);
  useEffect(() => part.current?.querySelector<HTMLElement>('input:not([readonly]), button')?.focus(), []);
  return <div ref={part}>{children}</div>;
}
