import { useMutation, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { useOperations } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { useSecondsUntil } from '../../../components/time.tsx';
import { showFailure, showOperation } from '../../../components/toast.tsx';
import { useMay } from '../../../session/session.ts';
import operationStyles from '../operations/operations.module.css';
import { OperationItem } from '../operations/operations.tsx';
import { CacheRulesSection } from './cache-rules.tsx';
import styles from './caches.module.css';
import { PurgePages } from './purge-pages.tsx';

const CACHES = [
  {
    type: 'page',
    name: 'Page cache',
    words: 'Keeps complete pages at the edge. Purge it to show visitors a change immediately.',
    absent: 'No pages are cached.',
  },
  {
    type: 'object',
    name: 'Object cache',
    words:
      'Keeps values that the website has read from its database. Purge it if the website shows old values. Pages are slower until it fills again, so you can purge it once a minute.',
    absent: 'This website has no object cache.',
  },
  {
    type: 'cdn',
    name: 'CDN',
    words:
      'Keeps copies of pages and files close to visitors. Purge it if the website is up to date but some visitors see an old version.',
    absent: 'This platform has no CDN. If you use your own CDN, purge it there.',
  },
] as const;

const ALL = {
  type: 'all',
  name: 'All caches',
  words:
    'Purges every cache of the website at once. It counts as a purge of the object cache, so you can do it once a minute.',
} as const;

type Cache = (typeof CACHES)[number] | typeof ALL;

const SHOWN = 5;

/** The caches of an install and how to purge them. */
export function CachesSection({ install }: { install: Install }) {
  const operations = useOperations(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  const purges = operations.data?.results.filter(({ kind }) => kind === 'cache.purge').slice(0, SHOWN) ?? [];
  return (
    <>
      <Loaded query={operations} what="the caches">
        {({ caches, next }) => (
          <>
            {CACHES.map((cache) => (
              <Section key={cache.type} title={cache.name}>
                {caches.includes(cache.type) ? <p>{cache.words}</p> : <Empty>{cache.absent}</Empty>}
                {caches.includes(cache.type) && mayWork && (
                  <PurgeButton
                    installId={install.id}
                    cache={cache}
                    next={cache.type === 'object' ? next.purge_object : null}
                  />
                )}
                {cache.type === 'page' && mayWork && <PurgePages installId={install.id} />}
              </Section>
            ))}
            {caches.length > 1 && mayWork && (
              <Section title={ALL.name}>
                <p>{ALL.words}</p>
                <PurgeButton installId={install.id} cache={ALL} next={next.purge_object} />
              </Section>
            )}
          </>
        )}
      </Loaded>
      {install.php_version !== null && <CacheRulesSection installId={install.id} mayWork={mayWork} />}
      {purges.length > 0 && (
        <Section title="Recent purges">
          <ul className={operationStyles.list} aria-live="polite">
            {purges.map((operation) => (
              <OperationItem key={operation.id} operation={operation} />
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

/** `next` is when the cache may be purged again; null for now. */
function PurgeButton({ installId, cache, next }: { installId: string; cache: Cache; next: string | null }) {
  const queries = useQueryClient();
  const seconds = useSecondsUntil(next);

  const purge = useMutation({
    mutationFn: () =>
      unwrapStarted(
        hosting.POST('/installs/{install_id}/purge_cache', {
          params: { path: { install_id: installId } },
          body: { type: cache.type },
        }),
      ),
    onSuccess: (operationId) => {
      const purged = cache === ALL ? 'all caches' : `the ${lower(cache.name)}`;
      showOperation(operationId, { busy: `Purging ${purged}.`, done: `Purged ${purged}.` });
    },
    onError: showFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ['operation', installId] }),
  });

  return (
    <div className={styles.row}>
      <Button pending={purge.isPending} disabled={seconds > 0} onClick={() => purge.mutate()}>
        Purge {lower(cache.name)}
      </Button>
      {seconds > 0 && (
        <span className={styles.wait}>
          You can purge {cache === ALL ? 'them' : 'it'} again in {seconds} s.
        </span>
      )}
    </div>
  );
}

const lower = (name: Cache['name']) => (name === 'CDN' ? name : name.toLowerCase());
