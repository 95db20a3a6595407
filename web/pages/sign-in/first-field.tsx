import { type ReactNode, useLayoutEffect, useRef } from 'react';

/** Focuses the first editable field of a form when it mounts, or its button if it has none. */
export function FocusedForm({ children }: { children: ReactNode }) {
  const part = useRef<HTMLDivElement>(null);
  useLayoutEffect(
    () => part.current?.querySelector<HTMLElement>('input:not([readonly]), button')?.focus(),
    [],
  );
  return <div ref={part}>{children}</div>;
}
