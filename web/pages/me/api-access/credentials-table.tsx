import type { Credential } from '../../../api/me.ts';
import { Button } from '../../../components/button.tsx';
import { Badge } from '../../../components/notice.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import styles from './api-access.module.css';
import { accessLabel } from './credential-labels.ts';

const name: Column<Credential> = {
  id: 'name',
  header: 'Name and username',
  rowHeader: true,
  sortBy: (credential) => credential.name,
  cell: (credential) => (
    <>
      {credential.name}
      <code className={styles.username}>{credential.id}</code>
    </>
  ),
};

const access: Column<Credential> = { id: 'access', header: 'Access', cell: accessLabel };

const lastUse: Column<Credential> = {
  id: 'last_used',
  header: 'Last used',
  sortBy: ({ last_used_at }) => last_used_at ?? '',
  cell: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Time at={last_used_at} />),
};

const moment = (at: string | null, none: string) => (at === null ? none : <Time at={at} />);

export function WorkingCredentials({
  credentials,
  onRevoke,
}: {
  credentials: readonly Credential[];
  onRevoke(credential: Credential): void;
}) {
  return (
    <Table
      caption="Your API credentials"
      rows={credentials}
      rowKey={({ id }) => id}
      columns={[
        name,
        access,
        lastUse,
        { id: 'ends', header: 'Expires', cell: ({ expires_at }) => moment(expires_at, 'Never') },
        { id: 'made', header: 'Created', cell: ({ created_at }) => moment(created_at, '') },
        {
          id: 'revoke',
          header: 'Actions',
          cell: (credential) => (
            <Button small aria-label={`Revoke ${credential.name}`} onClick={() => onRevoke(credential)}>
              Revoke
            </Button>
          ),
        },
      ]}
    />
  );
}

/** Credentials that no longer work. */
export function EndedCredentials({ credentials }: { credentials: readonly Credential[] }) {
  return (
    <Table
      caption="Revoked and expired credentials"
      addressName="ended-"
      rows={credentials}
      rowKey={({ id }) => id}
      columns={[
        name,
        access,
        lastUse,
        {
          id: 'ended',
          header: 'Ended',
          cell: ({ revoked_at, expires_at }) => (
            <>
              <Badge>{revoked_at === null ? 'Expired' : 'Revoked'}</Badge>{' '}
              {moment(revoked_at ?? expires_at, '')}
            </>
          ),
        },
      ]}
    />
  );
}
