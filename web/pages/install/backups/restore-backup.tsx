import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { portal } from '../../../api/client.ts';
import { answered } from '../../../api/failure.ts';
import { type Install, useInstalls } from '../../../api/installs.ts';
import { useSites } from '../../../api/sites.ts';
import { arranged } from '../../../components/arranged.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog, Dialog } from '../../../components/dialog.tsx';
import { SelectField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { say } from '../../../components/toast.tsx';
import { environmentWord } from '../../site/environments.ts';
import type { Backup } from '../queries.ts';
import styles from './backups.module.css';

interface Target {
  id: string;
  name: string;
}

/** Chooses what a backup is restored into, and has that name typed before anything is replaced. */
export function RestoreBackup({
  install,
  backup,
  onClose,
  onBackupInstead,
}: {
  install: Install;
  backup: Backup;
  onClose(): void;
  onBackupInstead(): void;
}) {
  const [target, setTarget] = useState<Target | null>(null);
  const queries = useQueryClient();
  const [, go] = useLocation();

  async function restore(into: Target) {
    await answered(
      portal.POST('/portal/api/installs/{install_id}/backups/{backup_id}/restore', {
        params: { path: { install_id: install.id, backup_id: backup.id } },
        body: { into_install_id: into.id === install.id ? null : into.id },
      }),
    );
    await queries.invalidateQueries({ queryKey: ['operation', into.id] });
    say(`${into.name} is being restored.`);
    // How it fares is shown where it happens.
    if (into.id !== install.id) go(`/installs/${into.id}/backups`);
  }

  return (
    <>
      <Dialog
        open={target === null}
        onOpenChange={(open) => {
          if (!open) onClose();
        }}
        title={`Restore "${backup.description}"`}
        description={
          <>
            As the website was <Time at={backup.created_at} exact />.
          </>
        }
      >
        <TargetForm install={install} onChosen={setTarget} onCancel={onClose} />
      </Dialog>
      {target && (
        <ConfirmDialog
          open
          onOpenChange={(open) => {
            if (!open) onClose();
          }}
          title={`Replace ${target.name}`}
          description={
            <div className={styles.words}>
              <p>
                The present files and the present database of {target.name} are replaced by those of the
                backup "{backup.description}". What changed since then is lost.
              </p>
              {target.id === install.id && (
                <p>
                  A backup of the present state beforehand is wise.{' '}
                  <Button small onClick={onBackupInstead}>
                    Make one first
                  </Button>
                </p>
              )}
            </div>
          }
          name={target.name}
          confirmLabel={`Restore ${target.name}`}
          onConfirm={() => restore(target)}
        />
      )}
    </>
  );
}

function TargetForm({
  install,
  onChosen,
  onCancel,
}: {
  install: Install;
  onChosen(target: Target): void;
  onCancel(): void;
}) {
  const query = useInstalls(install.account.id);
  const sites = useSites(install.account.id);
  /** With its site: of two hundred installs nobody knows all names. */
  const labelOf = ({ name, site, environment }: Install) => {
    const siteName = sites.data?.find(({ id }) => id === site?.id)?.name;
    return siteName === undefined ? name : `${name} (${environmentWord(environment)} of ${siteName})`;
  };
  return (
    <Loaded query={query} what="installs">
      {(installs) => {
        const targets = installs.filter(({ status }) => status === 'active');
        if (targets.length === 0) return <Empty>There is no active install to restore into.</Empty>;
        return (
          <Form
            submitLabel="Go on"
            onSubmit={async (values) => {
              const chosen = targets.find(({ id }) => id === textOf(values, 'into_install_id'));
              if (chosen) onChosen(chosen);
            }}
            actions={<Button onClick={onCancel}>Cancel</Button>}
          >
            <SelectField
              label="Restore into"
              name="into_install_id"
              hint="Another install keeps its own name and domains, and shows what the backup has."
              defaultValue={install.id}
              options={[
                ...targets
                  .filter(({ id }) => id === install.id)
                  .map(({ id, name }) => ({ value: id, label: `${name} (this install)` })),
                ...arranged(
                  targets
                    .filter(({ id }) => id !== install.id)
                    .map((other) => ({ value: other.id, label: labelOf(other) })),
                  ({ label }) => label,
                  'ascending',
                ),
              ]}
            />
          </Form>
        );
      }}
    </Loaded>
  );
}
