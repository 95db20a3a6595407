import { useEffect, useRef } from 'react';
import { TextField } from './fields.tsx';

/** Six digits of an app; telephones and password managers fill it in. `focused`: what is typed at once goes here. */
export function CodeField({
  label = 'Six-digit code',
  hint,
  focused = false,
}: {
  label?: string;
  hint?: string;
  focused?: boolean;
}) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (focused) input.current?.focus();
  }, [focused]);
  return (
    <TextField
      ref={input}
      label={label}
      name="code"
      hint={hint}
      inputMode="numeric"
      autoComplete="one-time-code"
      pattern=" *[0-9]{3} ?[0-9]{3} *"
      title="Six digits"
      maxLength={10}
      required
    />
  );
}

/** One of the codes that were kept for when the app is lost. */
export function RecoveryCodeField({ focused = false }: { focused?: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (focused) input.current?.focus();
  }, [focused]);
  return (
    <TextField
      ref={input}
      label="Recovery code"
      name="code"
      hint="One that you have not used yet. Spaces, dashes and capital letters do not matter."
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      maxLength={64}
      required
    />
  );
}
