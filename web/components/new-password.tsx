import { FormError } from '../api/failure.ts';
import { TextField } from './fields.tsx';
import { textOf } from './form.tsx';

/** The server's own rule (src/features/identity/passwords/rules.ts). */
const SHORTEST = 12;
const LONGEST = 256;

/** A password to be chosen, typed twice, with the rule said before. */
export function NewPasswordFields({ label = 'New password' }: { label?: string }) {
  const common = {
    type: 'password',
    autoComplete: 'new-password',
    required: true,
    minLength: SHORTEST,
    maxLength: LONGEST,
  };
  return (
    <>
      <TextField
        {...common}
        label={label}
        name="password"
        hint={`At least ${SHORTEST} characters. A few words that only you would put together make a good one.`}
      />
      <TextField {...common} label="The same once more" name="repeated" />
    </>
  );
}

/** The password that was chosen. Throws Objection where the two are not the same. */
export function newPasswordOf(values: FormData): string {
  const password = textOf(values, 'password');
  if (password !== textOf(values, 'repeated')) {
    const message = 'The two passwords are not the same';
    throw new FormError(`${message}.`, [{ field: 'repeated', message }]);
  }
  return password;
}
