import { useMemo, useState } from 'react';
import type { Install } from '../../../api/installs.ts';
import { type LogEntries, type LogKind, type LogQuery, useLiveEntries, useLog } from '../../../api/logs.ts';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy.tsx';
import { LoadFailure, Notice, ProgressBar } from '../../../components/notice.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { useQueryParameters } from '../../../components/query-parameters.ts';
import { Table } from '../../../components/table.tsx';
import { COLUMNS, type Row } from './log-columns.tsx';
import { KIND_LABELS, kindsOf, logFilterOf, queryOf } from './log-filter.ts';
import { LogFilters } from './log-filters.tsx';
import styles from './logs.module.css';

/** The logs of an install, which users can search and follow. */
export function LogsSection({ install }: { install: Install }) {
  const address = useQueryParameters();
  const kinds = kindsOf(install);
  const filter = logFilterOf(address.get, kinds);
  return (
    <>
      <LogFilters kinds={kinds} filter={filter} onFilter={(change) => address.set(change)} />
      <Log key={filter.kind} installId={install.id} kind={filter.kind} query={queryOf(filter)} />
    </>
  );
}

function Log<Kind extends LogKind>({
  installId,
  kind,
  query,
}: {
  installId: string;
  kind: Kind;
  query: LogQuery;
}) {
  const [isFollowing, setFollowing] = useState(false);
  const log = useLog(installId, kind, query);
  const from = log.data?.pages[0]?.follow_cursor;
  const live = useLiveEntries(installId, kind, query, { from, isActive: isFollowing });
  const rows = useMemo(
    () => rowsOf<LogEntries[Kind]>(live.entries, log.data?.pages.flatMap(({ results }) => results) ?? []),
    [live.entries, log.data],
  );
  // A range that has ended gets no further entries.
  const mayFollow = query.to === undefined;
  return (
    <Section
      title={KIND_LABELS[kind]}
      actions={
        <div className={styles.tools}>
          {mayFollow && (
            <Button small aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
              {isFollowing ? 'Pause' : 'Follow'}
            </Button>
          )}
          <Button small pending={log.isRefetching} onClick={() => log.refetch()}>
            Reload
          </Button>
          {rows.length > 0 && (
            <CopyButton
              text={rows.map(({ entry }) => JSON.stringify(entry)).join('\n')}
              what="the shown entries"
            />
          )}
        </div>
      }
    >
      {isFollowing && live.state === 'waiting' && (
        <Notice tone="busy" role="status">
          The host does not answer at the moment. New entries appear when it does.
        </Notice>
      )}
      {isFollowing && live.state === 'ended' && (
        <Notice tone="bad" role="alert">
          The log cannot be followed now. Press Pause, and then Follow to try again.
        </Notice>
      )}
      {log.error !== null && log.data === undefined && (
        <LoadFailure error={log.error} onRetry={() => log.refetch()} />
      )}
      {log.isPending && <ProgressBar label={`Loading ${KIND_LABELS[kind]}`} />}
      {rows.length > 0 && (
        <Table
          caption={`${KIND_LABELS[kind]}, newest first`}
          columns={COLUMNS[kind]}
          rows={rows}
          rowKey={({ key }) => key}
          pageSize={rows.length}
        />
      )}
      {log.data !== undefined && rows.length === 0 && (
        <Empty>
          {log.hasNextPage
            ? 'No matching entries so far.'
            : Object.keys(query).length > 0
              ? 'No entries match. Change the search, the status or the times.'
              : 'No entries yet. New ones appear within a minute.'}
        </Empty>
      )}
      {log.hasNextPage && (
        <div>
          <Button pending={log.isFetchingNextPage} onClick={() => log.fetchNextPage()}>
            {rows.length > 0 ? 'Show older entries' : 'Search older entries'}
          </Button>
        </div>
      )}
    </Section>
  );
}

/** The rows of new entries and of loaded ones, newest first. Keys stay the same when entries are added at either end. */
function rowsOf<Entry>(live: readonly Entry[], loaded: readonly Entry[]): Row<Entry>[] {
  return [
    ...live.map((entry, index) => ({ key: `new ${live.length - index}`, entry })),
    ...loaded.map((entry, index) => ({ key: `old ${index}`, entry })),
  ];
}
