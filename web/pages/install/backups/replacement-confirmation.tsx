import type { ReactNode } from 'react';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { Notice } from '../../../components/notice.tsx';
import styles from './backups.module.css';
import { keptSentence, needsTypedName, type Parts, type ReplacedInstall } from './replacement.ts';

/** Says what a restore or a copy replaces and keeps, and how to return, before it begins. */
export function ReplacementConfirmation({
  target,
  parts,
  checkpoint,
  confirmLabel,
  onConfirm,
  onClose,
  children,
}: {
  target: ReplacedInstall;
  parts: Parts;
  checkpoint: boolean;
  confirmLabel: string;
  onConfirm(): Promise<void>;
  onClose(): void;
  /** The sentence that names what is replaced, and by what. */
  children: ReactNode;
}) {
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title={`Replace ${target.name}`}
      description={
        <div className={styles.words}>
          {target.environment === 'production' && (
            <Notice tone="bad" title="This is a production install">
              Visitors see the result at once.
            </Notice>
          )}
          <p>{children}</p>
          <p>{keptSentence(parts, target)}</p>
          <p>
            {checkpoint
              ? 'A checkpoint is made first. To return to the present state, restore the checkpoint from the list of backups within 14 days.'
              : 'No checkpoint is made, so you cannot return to the present state unless you have a backup of it.'}
          </p>
        </div>
      }
      {...(needsTypedName(target, checkpoint) ? { name: target.name } : {})}
      confirmLabel={confirmLabel}
      onConfirm={onConfirm}
    />
  );
}
