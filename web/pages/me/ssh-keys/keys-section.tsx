import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import { SSH_KEYS_KEY, useSshKeys } from '../../../api/me.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import styles from './ssh-keys.module.css';

type SshKey = NonNullable<ReturnType<typeof useSshKeys>['data']>[number];

const keyLabel = ({ comment, fingerprint_sha256 }: SshKey): string =>
  comment || `SHA256:${fingerprint_sha256}`;

export function KeysSection() {
  const keys = useSshKeys();
  const queries = useQueryClient();
  const [removing, setRemoving] = useState<SshKey | null>(null);

  async function remove() {
    if (removing === null) return;
    const path = { ssh_key_id: removing.id };
    await unwrapEmpty(hosting.DELETE('/ssh_keys/{ssh_key_id}', { params: { path } }));
    await queries.invalidateQueries({ queryKey: SSH_KEYS_KEY });
    showSuccess(`Removed the key ${keyLabel(removing)}.`);
  }

  return (
    <Section title="Your keys">
      <Loaded query={keys} what="your SSH keys">
        {(all) =>
          all.length > 0 ? (
            <Table
              caption="Your SSH keys"
              columns={columns(setRemoving)}
              rows={all}
              rowKey={({ id }) => id}
            />
          ) : (
            <Empty>You have no SSH keys yet. Add one to connect by SFTP.</Empty>
          )
        }
      </Loaded>
      <ConfirmDialog
        open={removing !== null}
        onOpenChange={(open) => !open && setRemoving(null)}
        title={`Remove the key ${removing ? keyLabel(removing) : ''}`}
        description="This key can no longer connect to your installs. You can add it again."
        confirmLabel="Remove"
        onConfirm={remove}
      />
    </Section>
  );
}

const columns = (onRemove: (key: SshKey) => void): Column<SshKey>[] => [
  {
    id: 'comment',
    header: 'Comment',
    rowHeader: true,
    sortBy: ({ comment }) => comment,
    cell: ({ comment }) => comment || 'No comment',
  },
  {
    id: 'fingerprint',
    header: 'Fingerprint',
    cell: ({ fingerprint_sha256, fingerprint_md5 }) => (
      <>
        <code className={styles.fingerprint}>SHA256:{fingerprint_sha256}</code>
        <code className={styles.fingerprint}>MD5:{fingerprint_md5}</code>
      </>
    ),
  },
  {
    id: 'added',
    header: 'Added',
    sortBy: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    id: 'remove',
    header: 'Actions',
    cell: (key) => (
      <Button small aria-label={`Remove the key ${keyLabel(key)}`} onClick={() => onRemove(key)}>
        Remove
      </Button>
    ),
  },
];
