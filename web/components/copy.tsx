import { useState } from 'react';
import { Button } from './button.tsx';
import styles from './copy.module.css';

/** Copies a text to the clipboard and confirms it. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <Button
      small
      aria-label={`${copied ? 'Copied' : 'Copy'} ${what}`}
      onClick={async () => {
        await navigator.clipboard.writeText(text);
        setCopied(true);
        setTimeout(() => setCopied(false), 2_000);
      }}
    >
      <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
    </Button>
  );
}

/** A text with a Copy button: a command, a DNS record, a secret. */
export function Copyable({ text, what }: { text: string; what: string }) {
  return (
    <div className={styles.copyable}>
      <code className={styles.text}>{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  );
}
