import type { QueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';

/** Changes a domain and reloads the install's data. */
export async function changeDomain(
  queries: QueryClient,
  installId: string,
  domainId: string,
  change: { primary?: boolean; redirect_to?: string | null; secure_all_urls?: boolean },
): Promise<void> {
  await unwrap(
    hosting.PATCH('/installs/{install_id}/domains/{domain_id}', {
      params: { path: { install_id: installId, domain_id: domainId } },
      body: change,
    }),
  );
  await reloadDomains(queries, installId);
}

/** Reloads an install, too, because it has the primary domain, and its operations, because a change starts one. */
export async function reloadDomains(queries: QueryClient, installId: string): Promise<void> {
  await Promise.all(
    ['domain', 'install', 'operation'].map((topic) =>
      queries.invalidateQueries({ queryKey: [topic, installId] }),
    ),
  );
}
