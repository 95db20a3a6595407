import { useMemo } from 'react';
import { Link } from 'wouter';
import { activityFile, ENTRIES_A_PAGE, type Entry, useActivity } from '../../api/activity.ts';
import { useInstallsById } from '../../api/install-list.ts';
import { DownloadLink } from '../../components/button.tsx';
import { useListParameters } from '../../components/list-parameters.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Empty, Page } from '../../components/page.tsx';
import { type Column, Table, usePage } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useAccount } from '../../session/session.ts';
import styles from './account.module.css';
import { activityFilterOf, NO_FILTER, queryOf } from './activity-filter.ts';
import { ActivityFilters } from './activity-filters.tsx';
import { sentenceOf, sourceOf } from './activity-sentence.ts';
import { countOfEntries } from './activity-words.ts';
import { NothingMatches } from './nothing-matches.tsx';
import { nameAndAddress } from './person-name.ts';

const NO_ENTRIES: readonly Entry[] = [];

/** The activity of an account, newest first. */
export function ActivityPage({ accountId }: { accountId: string }) {
  const own = useAccount(accountId)?.may['activity.read'] === 'own';
  const { get, ask } = useListParameters();
  const filter = activityFilterOf(get);
  const query = queryOf(filter);
  const filtered = Object.keys(query).length > 0;
  const [page] = usePage();
  const activity = useActivity(accountId, query, page * ENTRIES_A_PAGE);
  const entries = activity.data?.results ?? NO_ENTRIES;
  const mentioned = [...new Set(entries.flatMap(({ install_id }) => install_id ?? []))].sort();
  const { data: present } = useInstallsById(accountId, mentioned);
  const columns = useMemo(() => columnsOf(new Set(present?.map(({ id }) => id))), [present]);
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
        lastName={entries.find(({ install_id }) => install_id === filter.install)?.install_name}
        people={!own}
      />
      <Loaded query={activity} what="activity">
        {({ count, results }) =>
          results.length > 0 ? (
            <>
              <p className={styles.soft} role="status">
                {countOfEntries(count)}
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
    <span className={styles.sentence}>
      {sentenceOf(entry)} {email !== null && <span className={styles.address}>{email}</span>}
    </span>
  );
}

const fullSentence = (entry: Entry): string =>
  [sentenceOf(entry), nameAndAddress(entry.user_name).email ?? ''].filter(Boolean).join(' · ');

/** `present`: the installs that exist. */
function columnsOf(present: ReadonlySet<string>): Column<Entry>[] {
  return [
    {
      id: 'what',
      header: 'Change',
      rowHeader: true,
      line: { share: 70, text: fullSentence },
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
      line: { share: 22, text: ({ install_name }) => install_name ?? '' },
      cell: ({ install_id, install_name }) =>
        install_id !== null && present.has(install_id) ? (
          <Link className={styles.quiet} href={`/installs/${install_id}`}>
            {install_name}
          </Link>
        ) : (
          install_name
        ),
    },
    {
      id: 'means',
      header: 'Source',
      cell: (entry) => <span className={styles.whole}>{sourceOf(entry)}</span>,
    },
    {
      id: 'address',
      header: 'IP address',
      optional: true,
      cell: ({ address }) => <span className={styles.whole}>{address ?? 'Server'}</span>,
    },
  ];
}
