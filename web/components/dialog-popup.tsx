import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { Button } from './button.tsx';
import styles from './dialog.module.css';
import { DialogContext } from './dialog-context.ts';
import { TextField } from './fields.tsx';
import { Form } from './form.tsx';
import { useInitialFocus } from './initial-focus.ts';
import { ToastsInDialog } from './toast.tsx';

export interface DialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  title: ReactNode;
  description?: ReactNode;
}

export interface DialogPopupProps extends DialogProps {
  /** Stands at the right edge, for the details of a row, and has the initial focus itself. */
  drawer?: boolean;
  children: ReactNode;
}

/** The content of a {@link Dialog} (dialog.tsx). */
export function DialogPopup({
  open,
  onOpenChange,
  title,
  description,
  drawer = false,
  children,
}: DialogPopupProps) {
  const { popup, close, initialFocus, begin } = useInitialFocus();
  const { surrounding, leave } = useHeldDialog(onOpenChange);
  return (
    <BaseDialog.Root open={open} onOpenChange={leave} disablePointerDismissal>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.backdrop} />
        <BaseDialog.Popup
          ref={popup}
          className={drawer ? `${styles.popup} ${styles.drawer}` : styles.popup}
          initialFocus={drawer ? popup : initialFocus}
          finalFocus={false}
        >
          <BaseDialog.Title className={`${styles.title} ${styles.besideClose}`}>{title}</BaseDialog.Title>
          {description !== undefined && (
            <BaseDialog.Description className={styles.description} render={<div />}>
              {description}
            </BaseDialog.Description>
          )}
          <DialogContext value={{ ...surrounding, begin }}>{children}</DialogContext>
          {/* Last in the dialog, so that the form gets the initial focus. */}
          <BaseDialog.Close ref={close} className={styles.close} aria-label="Close">
            <span aria-hidden="true">✕</span>
          </BaseDialog.Close>
          {open && <ToastsInDialog />}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

/** Keeps a dialog open on Escape while a form in it is pending, because its error would be lost. */
function useHeldDialog(onOpenChange: (open: boolean) => void) {
  const held = useRef(0);
  const surrounding = {
    close: () => onOpenChange(false),
    hold() {
      held.current += 1;
      return () => {
        held.current -= 1;
      };
    },
  };
  const leave = (open: boolean, { reason }: { reason: string }) => {
    if (open || held.current === 0 || reason !== 'escape-key') onOpenChange(open);
  };
  return { surrounding, leave };
}

export interface ConfirmDialogProps extends DialogProps {
  /** The user must type it first. */
  name?: string | undefined;
  confirmLabel: string;
  onConfirm(): Promise<void>;
}

/** The content of a {@link ConfirmDialog} (dialog.tsx). */
export function ConfirmPopup({
  open,
  onOpenChange,
  title,
  description,
  name,
  confirmLabel,
  onConfirm,
}: ConfirmDialogProps) {
  const cancel = useRef<HTMLButtonElement>(null);
  const { surrounding, leave } = useHeldDialog(onOpenChange);
  return (
    <AlertDialog.Root open={open} onOpenChange={leave}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={styles.backdrop} />
        <AlertDialog.Popup
          className={styles.popup}
          initialFocus={name === undefined ? cancel : true}
          finalFocus={false}
        >
          <AlertDialog.Title className={styles.title}>{title}</AlertDialog.Title>
          <AlertDialog.Description className={styles.description} render={<div />}>
            {description}
          </AlertDialog.Description>
          <DialogContext value={surrounding}>
            <Confirmation
              name={name}
              label={confirmLabel}
              cancel={cancel}
              onCancel={() => onOpenChange(false)}
              onConfirm={async () => {
                await onConfirm();
                onOpenChange(false);
              }}
            />
          </DialogContext>
          {open && <ToastsInDialog />}
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

function Confirmation({
  name,
  label,
  cancel,
  onCancel,
  onConfirm,
}: {
  name: string | undefined;
  label: string;
  cancel: RefObject<HTMLButtonElement | null>;
  onCancel(): void;
  onConfirm(): Promise<void>;
}) {
  const [typed, setTyped] = useState('');
  return (
    <Form
      danger
      isPrompt
      submitLabel={label}
      disabled={name !== undefined && typed !== name}
      actions={
        <Button ref={cancel} onClick={onCancel}>
          Cancel
        </Button>
      }
      onSubmit={onConfirm}
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
