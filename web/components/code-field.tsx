import { TextField } from './fields.tsx';
import { useFocusOnMount } from './focus-on-mount.ts';

/** Field for a six-digit code, which phones and password managers can fill in. It has the initial focus. */
export function CodeField({ hint }: { hint: string }) {
  const input = useFocusOnMount<HTMLInputElement>();
  return (
    <TextField
      ref={input}
      label="Six-digit code"
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

/** Field for a recovery code. It has the initial focus. */
export function RecoveryCodeField() {
  const input = useFocusOnMount<HTMLInputElement>();
  return (
    <TextField
      ref={input}
      label="Recovery code"
      name="code"
      hint="Use a code that you have not used before. Spaces, dashes and capital letters do not matter."
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      maxLength={64}
      required
    />
  );
}
