import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { ENTRIES_A_PAGE, type Entry, useActivity } from '../../api/activity.ts';
import { useInstalls } from '../../api/installs.ts';
import { Button, DownloadLink } from '../../components/button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Empty, Page } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useAccount } from '../../session/session.ts';
import styles from './account.module.css';
import { meansOf, sentenceOf } from './activity-sentence.ts';
import { nameAndAddress } from './person-name.ts';

/** Who changed what in an account, the latest first. */
export function ActivityPage({ accountId }: { accountId: string }) {
  const own = useAccount(accountId)?.may['activity.read'] === 'own';
  const [offset, setOffset] = useState(0);
  const activity = useActivity(accountId, offset);
  const { data: installs } = useInstalls(accountId);
  const columns = useMemo(() => columnsOf(new Map(installs?.map(({ id, name }) => [id, name]))), [installs]);
  const csv = new URL(`portal/api/accounts/${accountId}/activity.csv`, document.baseURI).href;
  return (
    <Page
      title="Activity"
      subtitle={`${own ? 'What you changed' : 'Who changed what'}, by the portal, the API or the command line. Entries are kept for a year.`}
      actions={<DownloadLink href={csv}>Download as CSV</DownloadLink>}
    >
      <Loaded query={activity} what="activity">
        {({ count, results }) =>
          count === 0 ? (
            <Empty>
              <p>Nothing has been changed yet. Whatever is done from now on is written down here.</p>
            </Empty>
          ) : (
            <>
              <Table
                caption="Activity"
                columns={columns}
                rows={results}
                rowKey={({ id }) => id}
                pageSize={ENTRIES_A_PAGE}
              />
              <Turn offset={offset} count={count} onTurn={setOffset} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Turn({ offset, count, onTurn }: { offset: number; count: number; onTurn(offset: number): void }) {
  if (count <= ENTRIES_A_PAGE && offset === 0) return null;
  return (
    <nav className={styles.actions} aria-label="Pages of the activity">
      <Button small disabled={offset === 0} onClick={() => onTurn(Math.max(0, offset - ENTRIES_A_PAGE))}>
        Newer
      </Button>
      <span>
        {offset + 1} to {Math.min(offset + ENTRIES_A_PAGE, count)} of {count}
      </span>
      <Button
        small
        disabled={offset + ENTRIES_A_PAGE >= count}
        onClick={() => onTurn(offset + ENTRIES_A_PAGE)}
      >
        Older
      </Button>
    </nav>
  );
}

/** Anybody may call themselves anything: the address tells who it was. */
function Sentence({ entry }: { entry: Entry }) {
  const { email } = nameAndAddress(entry.user_name);
  return (
    <div className={styles.sentence}>
      {sentenceOf(entry)}
      {email !== null && <div className={styles.address}>{email}</div>}
    </div>
  );
}

function columnsOf(installs: ReadonlyMap<string, string>): Column<Entry>[] {
  return [
    {
      id: 'what',
      header: 'What',
      rowHeader: true,
      cell: (entry) => <Sentence entry={entry} />,
    },
    {
      id: 'at',
      header: 'When',
      cell: ({ at }) => (
        <span className={styles.whole}>
          <Time at={at} exact />
        </span>
      ),
    },
    {
      id: 'install',
      header: 'Install',
      cell: ({ install_id }) => {
        const name = install_id === null ? undefined : installs.get(install_id);
        return name === undefined ? null : <Link href={`/installs/${install_id}`}>{name}</Link>;
      },
    },
    {
      id: 'means',
      header: 'By way of',
      cell: (entry) => <span className={styles.whole}>{meansOf(entry)}</span>,
    },
    {
      id: 'address',
      header: 'From',
      cell: ({ address }) => <span className={styles.whole}>{address ?? 'The server itself'}</span>,
    },
  ];
}
