import { useMemo } from 'react';
import { Link } from 'wouter';
import { activityFile, ENTRIES_A_PAGE, type Entry, useActivity } from '../../api/activity.ts';
import { type Install, useInstalls } from '../../api/installs.ts';
import { DownloadLink } from '../../components/button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Empty, Page } from '../../components/page.tsx';
import { type Column, Table, usePage } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useAccount } from '../../session/session.ts';
import styles from './account.module.css';
import { activityFilterOf, NO_FILTER, queryOf } from './activity-filter.ts';
import { ActivityFilters } from './activity-filters.tsx';
import { sentenceOf, sourceOf } from './activity-sentence.ts';
import { useListParameters } from './list-parameters.ts';
import { NothingMatches } from './nothing-matches.tsx';
import { nameAndAddress } from './person-name.ts';

const NO_INSTALLS: readonly Install[] = [];

/** The activity of an account, newest first. */
export function ActivityPage({ accountId }: { accountId: string }) {
  const own = useAccount(accountId)?.may['activity.read'] === 'own';
  const { get, ask } = useListParameters();
  const filter = activityFilterOf(get);
  const query = queryOf(filter);
  const filtered = Object.keys(query).length > 0;
  const [page] = usePage();
  const activity = useActivity(accountId, query, page * ENTRIES_A_PAGE);
  const { data: installs = NO_INSTALLS } = useInstalls(accountId);
  const columns = useMemo(() => columnsOf(new Map(installs.map(({ id, name }) => [id, name]))), [installs]);
  return (
    <Page
      title="Activity"
      subtitle={`${own ? 'Your changes' : 'All changes'} in the portal, the API and the command line. Entries are kept for one year.`}
      actions={
        <DownloadLink href={activityFile(accountId, query)}>
          {filtered ? 'Download results as CSV' : 'Download as CSV'}
        </DownloadLink>
      }
    >
      <ActivityFilters
        accountId={accountId}
        filter={filter}
        onFilter={ask}
        installs={installs}
        formerName={
          activity.data?.results.find(({ install_id }) => install_id === filter.install)?.install_name
        }
        people={!own}
      />
      <Loaded query={activity} what="activity">
        {({ count, results }) =>
          results.length > 0 ? (
            <>
              <p className={styles.soft} role="status">
                {count === 1 ? '1 entry' : `${count} entries`}
              </p>
              <Table
                caption="Activity"
                columns={columns}
                rows={results}
                rowKey={({ id }) => id}
                pageSize={ENTRIES_A_PAGE}
                count={count}
              />
            </>
          ) : filtered || page > 0 ? (
            <NothingMatches onClear={() => ask({ ...NO_FILTER })} />
          ) : (
            <Empty>
              <p>No activity yet. Changes to this account will appear here.</p>
            </Empty>
          )
        }
      </Loaded>
    </Page>
  );
}

/** Users choose their own names, so the email address identifies them. */
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
      header: 'Change',
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
      cell: ({ install_id, install_name }) => {
        const present = install_id === null ? undefined : installs.get(install_id);
        return (
          <span className={styles.install}>
            {present === undefined ? install_name : <Link href={`/installs/${install_id}`}>{present}</Link>}
          </span>
        );
      },
    },
    {
      id: 'means',
      header: 'Source',
      cell: (entry) => <span className={styles.whole}>{sourceOf(entry)}</span>,
    },
    {
      id: 'address',
      header: 'IP address',
      cell: ({ address }) => <span className={styles.whole}>{address ?? 'Server'}</span>,
    },
  ];
}
