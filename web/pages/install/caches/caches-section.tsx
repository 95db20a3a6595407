import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { useOperations } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { useSecondsUntil } from '../../../components/time.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { useMay } from '../../../session/session.ts';
import operationStyles from '../operations/operations.module.css';
import { OperationItem } from '../operations/operations.tsx';
import styles from './caches.module.css';

const CACHES = [
  {
    type: 'page',
    name: 'Page cache',
    words:
      'Whole pages as the edge keeps them for visitors, for ten minutes. Purge it when visitors should see a change at once.',
    absent: 'No pages are kept.',
  },
  {
    type: 'object',
    name: 'Object cache',
    words:
      'What the website has read from its database and keeps for itself. Purge it when the website shows old values. Pages are slower until it has filled again, so it can be purged once a minute.',
    absent: 'This website is served as files and has no object cache.',
  },
  {
    type: 'cdn',
    name: 'CDN',
    words:
      'Copies of pages and files in the network in front of the platform. Purge it when the website itself is right, but visitors far away see an old one.',
    absent:
      'No CDN is in front of this platform; there is nothing to purge. One of your own is purged where you have it.',
  },
] as const;

type Cache = (typeof CACHES)[number];

const SHOWN = 5;

/** What is kept to be fast, and how to get rid of it. */
export function CachesSection({ install }: { install: Install }) {
  const operations = useOperations(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  const purges = operations.data?.results.filter(({ kind }) => kind === 'purge_cache').slice(0, SHOWN) ?? [];
  return (
    <>
      <Loaded query={operations} what="the caches">
        {({ caches, next }) =>
          CACHES.map((cache) => (
            <Section key={cache.type} title={cache.name}>
              {caches.includes(cache.type) ? <p>{cache.words}</p> : <Empty>{cache.absent}</Empty>}
              {caches.includes(cache.type) && mayWork && (
                <PurgeButton
                  installId={install.id}
                  cache={cache}
                  next={cache.type === 'object' ? next.purge_object : null}
                />
              )}
            </Section>
          ))
        }
      </Loaded>
      {purges.length > 0 && (
        <Section title="Purges of late">
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

/** `next`: when it may be pressed again; null: now. */
function PurgeButton({ installId, cache, next }: { installId: string; cache: Cache; next: string | null }) {
  const queries = useQueryClient();
  const [pending, setPending] = useState(false);
  const seconds = useSecondsUntil(next);

  async function purge() {
    setPending(true);
    try {
      await unwrapEmpty(
        hosting.POST('/installs/{install_id}/purge_cache', {
          params: { path: { install_id: installId } },
          body: { type: cache.type },
        }),
      );
      showSuccess(`The ${lower(cache.name)} is being purged.`);
    } catch (error) {
      showFailure(error);
    } finally {
      await queries.invalidateQueries({ queryKey: ['operation', installId] });
      setPending(false);
    }
  }

  return (
    <div className={styles.row}>
      <Button pending={pending} disabled={seconds > 0} onClick={purge}>
        Purge the {lower(cache.name)}
      </Button>
      {seconds > 0 && <span className={styles.wait}>It can be purged again in {seconds} s.</span>}
    </div>
  );
}

const lower = (name: Cache['name']) => (name === 'CDN' ? name : name.toLowerCase());
