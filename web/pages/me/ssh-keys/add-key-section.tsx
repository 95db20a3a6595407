import { useQueryClient } from '@tanstack/react-query';
import { type ChangeEvent, useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { FormError, unwrap } from '../../../api/failure.ts';
import { SSH_KEYS_KEY } from '../../../api/me.ts';
import { TextArea, TextField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { isPrivateKey, LONGEST_KEY_FILE } from './public-key-text.ts';
import styles from './ssh-keys.module.css';

const PRIVATE =
  'This is a private key. It was not sent. Never share it; use the file whose name ends in .pub instead.';
const TOO_LONG = 'This file is not a public key. Use the file whose name ends in .pub.';

/** Adds a public key from text or a file. A private key is rejected in the browser and never sent. */
export function AddKeySection() {
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const [refusal, setRefusal] = useState<string | null>(null);

  function take(taken: string) {
    const secret = isPrivateKey(taken);
    setRefusal(secret ? PRIVATE : null);
    setText(secret ? '' : taken);
  }

  async function takeFile(event: ChangeEvent<HTMLInputElement>) {
    const input = event.currentTarget;
    const file = input.files?.[0];
    if (!file) return;
    const isTooLong = file.size > LONGEST_KEY_FILE;
    if (isTooLong) setRefusal(TOO_LONG);
    else take((await file.text()).trim());
    input.value = '';
  }

  async function add() {
    if (isPrivateKey(text)) throw new FormError(PRIVATE);
    const key = await unwrap(hosting.POST('/ssh_keys', { body: { public_key: text.trim() } }));
    setText('');
    showSuccess(`Added the key ${key.comment || key.fingerprint}.`);
    await queries.invalidateQueries({ queryKey: SSH_KEYS_KEY });
  }

  return (
    <Section title="Add SSH key">
      <Form submitLabel="Add key" onSubmit={add}>
        {refusal !== null && (
          <Notice tone="bad" role="alert">
            {refusal}
          </Notice>
        )}
        <TextArea
          label="Public key"
          name="public_key"
          hint={
            <>
              The content of a file such as <code>~/.ssh/id_ed25519.pub</code>. To create a key, run{' '}
              <code>ssh-keygen -t ed25519</code>.
            </>
          }
          autoComplete="off"
          autoCapitalize="none"
          required
          value={text}
          onChange={({ currentTarget: { value } }) => {
            // Text of several lines can come as several events. The first empties the field, and the next would clear the refusal.
            if (value !== text) take(value);
          }}
        />
        <div className={styles.file}>
          <TextField label="Or upload the file" name="file" type="file" accept=".pub" onChange={takeFile} />
        </div>
      </Form>
    </Section>
  );
}
