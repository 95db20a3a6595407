import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { type BodyOf, type PortalPaths, portal } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { isUnderWay } from '../../api/operations.ts';
import { POLL_MS } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Badge, LoadFailure, type Tone } from '../../components/notice.tsx';
import { operationState } from '../install/operations/operation-labels.ts';
import { AT_ONCE, type Named, type Requested } from './batches.ts';
import styles from './bulk-results.module.css';

type Answer = BodyOf<PortalPaths['/portal/api/operations/read']['post']>;
type Operation = Answer['results'][number];

/** The progress of a bulk action, and the result of each install. */
export function BulkResults({
  requested,
  onRetry,
}: {
  requested: readonly Requested[];
  /** Starts again with these installs. */
  onRetry(installs: readonly Named[]): void;
}) {
  const ids = requested.flatMap((one) => ('operationId' in one ? [one.operationId] : []));
  const query = useOperationsById(ids);
  const results = requested.map((one) => resultOf(one, query.data));
  const ended = results.filter(({ isEnded }) => isEnded).length;
  const bad = results.filter(({ tone }) => tone === 'bad');
  return (
    <div className={styles.results}>
      <label className={styles.progress}>
        <span aria-live="polite">
          {ended} of {results.length} finished
          {bad.length > 0 && `, ${bad.length} failed or refused`}
        </span>
        <progress value={ended} max={results.length} />
      </label>
      {query.isError && <LoadFailure error={query.error} onRetry={() => void query.refetch()} />}
      <ul className={styles.list}>
        {results.map(({ id, name, word, tone, reason }) => (
          <li key={id}>
            <Link href={`/installs/${id}`}>{name}</Link> <Badge tone={tone}>{word}</Badge>
            {reason !== null && <p>{reason}</p>}
          </li>
        ))}
      </ul>
      {bad.length > 0 && ended === results.length && (
        <div>
          <Button onClick={() => onRetry(bad)}>
            Try again with {bad.length === 1 ? '1 install' : `${bad.length} installs`}
          </Button>
        </div>
      )}
    </div>
  );
}

function useOperationsById(ids: readonly string[]) {
  return useQuery({
    queryKey: ['operation', 'read', ...ids],
    enabled: ids.length > 0,
    queryFn: async () => {
      const found = new Map<string, Operation>();
      for (let start = 0; start < ids.length; start += AT_ONCE) {
        const body = { operation_ids: ids.slice(start, start + AT_ONCE) };
        const { results } = await unwrap(portal.POST('/portal/api/operations/read', { body }));
        for (const operation of results) found.set(operation.id, operation);
      }
      return found;
    },
    refetchInterval: ({ state }) =>
      state.data === undefined || [...state.data.values()].some(isUnderWay) ? POLL_MS : false,
  });
}

interface Result extends Named {
  word: string;
  tone: Tone;
  reason: string | null;
  isEnded: boolean;
}

function resultOf(one: Requested, operations: ReadonlyMap<string, Operation> | undefined): Result {
  const { id, name } = one;
  if ('refusal' in one) return { id, name, word: 'Refused', tone: 'bad', reason: one.refusal, isEnded: true };
  const operation = operations?.get(one.operationId);
  if (operation === undefined)
    return { id, name, word: 'Waiting', tone: 'busy', reason: null, isEnded: false };
  const { word, tone } = operationState({ status: operation.status, attempt: 0 });
  return { id, name, word, tone, reason: operation.error?.message ?? null, isEnded: !isUnderWay(operation) };
}
