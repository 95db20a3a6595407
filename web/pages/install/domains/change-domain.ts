import type { QueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';

/** Changes a domain, and has what is shown of the install loaded again. */
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

/** The install says its primary domain, and the work that follows is an operation. */
export async function reloadDomains(queries: QueryClient, installId: string): Promise<void> {
  await Promise.all(
    ['domain', 'install', 'operation'].map((topic) =>
      queries.invalidateQueries({ queryKey: [topic, installId] }),
    ),
  );
}
