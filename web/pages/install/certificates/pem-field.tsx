import { type ChangeEvent, type ReactNode, useContext, useId, useRef, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { TextArea } from '../../../components/fields.tsx';
import { FieldErrors } from '../../../components/form.tsx';
import styles from './certificates.module.css';
import { notPem } from './pem-texts.ts';

/**
 * A field for a PEM text, pasted or read from a file. The text stays in the element and out of the state of the page.
 * A `secret` is masked. Browsers store neither for later (`autocomplete`).
 */
export function PemField({
  label,
  name,
  hint,
  longest,
  secret = false,
  required = false,
}: {
  label: string;
  name: string;
  hint: ReactNode;
  /** The most characters. A larger file is not read. */
  longest: number;
  secret?: boolean;
  required?: boolean;
}) {
  const id = useId();
  const errors = useContext(FieldErrors);
  const field = useRef<HTMLDivElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [file, setFile] = useState<{ name: string; error: string | null } | null>(null);

  async function read(event: ChangeEvent<HTMLInputElement>) {
    // The form must not count the picker as a changed field.
    event.stopPropagation();
    const input = event.currentTarget;
    const chosen = input.files?.[0];
    const area = field.current?.querySelector('textarea');
    if (!chosen || !area) return;
    const text = chosen.size > longest ? null : await chosen.text();
    input.value = '';
    const error =
      text === null
        ? `${chosen.name} is too large. At most ${longest.toLocaleString('en')} bytes are allowed.`
        : text.includes('-----BEGIN ')
          ? null
          : notPem(chosen.name);
    if (error === null && text !== null) {
      area.setRangeText(text, 0, area.value.length, 'start');
      // The form removes its error.
      area.dispatchEvent(new Event('input', { bubbles: true }));
    }
    setFile({ name: chosen.name, error });
    area.focus();
  }

  const shown = file?.error ? { ...errors, [name]: file.error } : errors;
  return (
    <div ref={field} className={secret ? `${styles.pem} ${styles.secret}` : styles.pem}>
      <FieldErrors.Provider value={shown}>
        <TextArea
          label={label}
          name={name}
          hint={hint}
          autoCapitalize="none"
          autoComplete="off"
          autoCorrect="off"
          required={required}
          onChange={() => setFile((present) => (present?.error ? null : present))}
        />
      </FieldErrors.Provider>
      <div className={styles.row}>
        <input ref={picker} id={id} type="file" hidden onChange={read} aria-label={`File: ${label}`} />
        <Button small aria-label={`Choose file: ${label}`} onClick={() => picker.current?.click()}>
          Choose file
        </Button>
        <span aria-live="polite" className={styles.soft}>
          {file !== null && file.error === null && `Read from ${file.name}.`}
        </span>
      </div>
    </div>
  );
}
