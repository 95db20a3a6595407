import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import styles from './dialog.module.css';
import { TextField } from './fields.tsx';
import { Form } from './form.tsx';
import { useReturnFocus } from './return-focus.ts';

interface DialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  title: string;
  description?: ReactNode;
}

/** A window over the page, with the form or the words for one thing. Escape and a press beside it close it. */
export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  children,
}: DialogProps & { children: ReactNode }) {
  const returnFocus = useReturnFocus(open);
  return (
    <BaseDialog.Root open={open} onOpenChange={onOpenChange}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.backdrop} />
        <BaseDialog.Popup className={styles.popup} finalFocus={returnFocus}>
          <BaseDialog.Title className={styles.title}>{title}</BaseDialog.Title>
          {description !== undefined && (
            <BaseDialog.Description className={styles.description} render={<div />}>
              {description}
            </BaseDialog.Description>
          )}
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

/**
 * Asks before something that cannot be undone. `name`: what has to be typed for it, where a slip would cost a website.
 * Closes when `onConfirm` has come to its end; what that throws is told inside.
 */
export function ConfirmDialog({
  open,
  onOpenChange,
  title,
  description,
  name,
  confirmLabel,
  onConfirm,
}: DialogProps & { name?: string; confirmLabel: string; onConfirm(): Promise<void> }) {
  const returnFocus = useReturnFocus(open);
  return (
    <AlertDialog.Root open={open} onOpenChange={onOpenChange}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={styles.backdrop} />
        <AlertDialog.Popup className={styles.popup} finalFocus={returnFocus}>
          <AlertDialog.Title className={styles.title}>{title}</AlertDialog.Title>
          <AlertDialog.Description className={styles.description} render={<div />}>
            {description}
          </AlertDialog.Description>
          <Confirmation
            name={name}
            label={confirmLabel}
            onCancel={() => onOpenChange(false)}
            onConfirm={async () => {
              await onConfirm();
              onOpenChange(false);
            }}
          />
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

function Confirmation({
  name,
  label,
  onCancel,
  onConfirm,
}: {
  name: string | undefined;
  label: string;
  onCancel(): void;
  onConfirm(): Promise<void>;
}) {
  const [typed, setTyped] = useState('');
  return (
    <Form
      danger
      submitLabel={label}
      disabled={name !== undefined && typed !== name}
      onSubmit={onConfirm}
      actions={<Button onClick={onCancel}>Cancel</Button>}
    >
      {name !== undefined && (
        <TextField
          label={`Type ${name} to confirm`}
          name="confirmation"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
    </Form>
  );
}
