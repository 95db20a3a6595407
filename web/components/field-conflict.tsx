import { type MouseEvent, useRef } from 'react';
import { Button } from './button.tsx';
import styles from './form.module.css';
import type { Conflict } from './use-draft.ts';

/** Marks conflicts for the form, which moves the focus to the first one. */
export const CONFLICT = 'data-conflict';

/** Says that someone else changed a field that the user edited, and asks which value stays. Screen readers announce it. */
export function FieldConflict({
  id,
  label,
  theirs,
  conflict: { onKeepMine, onTakeTheirs },
}: {
  id?: string;
  label: string;
  /** The other value in words. */
  theirs: string;
  conflict: Conflict;
}) {
  const notice = useRef<HTMLDivElement>(null);

  /** Resolves the conflict, and moves the focus from the button, which disappears, to the field before it. */
  function resolve({ currentTarget: { form } }: MouseEvent<HTMLButtonElement>, choose: () => void): void {
    const field = [...(form?.elements ?? [])].findLast(
      (element) => element.matches('input, select, textarea') && precedes(element, notice.current),
    );
    choose();
    if (field instanceof HTMLElement) field.focus();
  }

  return (
    <div
      id={id}
      ref={notice}
      role="alert"
      className={styles.conflict}
      tabIndex={-1}
      {...{ [CONFLICT]: true }}
    >
      <p className={styles.theirs}>
        <strong>Changed by someone else.</strong> {theirs === '' ? 'Now it is empty.' : 'Now it is:'}
        {theirs.includes('\n') ? '\n' : ' '}
        <span>{theirs}</span>
      </p>
      <div className={styles.actions}>
        <Button small aria-label={`Keep mine: ${label}`} onClick={(event) => resolve(event, onKeepMine)}>
          Keep mine
        </Button>
        <Button small aria-label={`Take theirs: ${label}`} onClick={(event) => resolve(event, onTakeTheirs)}>
          Take theirs
        </Button>
      </div>
    </div>
  );
}

const precedes = (one: Element, other: Element | null): boolean =>
  other !== null && (other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING) !== 0;
