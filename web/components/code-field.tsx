import { TextField } from './fields.tsx';
import { useFocusOnMount } from './focus-on-mount.ts';

/** Six digits of an app; telephones and password managers fill it in. What is typed at once goes here. */
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

/** One of the codes that were kept for when the app is lost. */
export function RecoveryCodeField() {
  const input = useFocusOnMount<HTMLInputElement>();
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
