import { useQuery } from '@tanstack/react-query';
import type { components } from '../../packages/client/src/api-types.ts';
import { allPages } from './all-pages.ts';
import { hosting } from './client.ts';
import { unwrap } from './failure.ts';

export type Protection = components['schemas']['Protection'];
export type ProtectionChange = components['schemas']['UpdateProtection'];
export type Redirect = components['schemas']['Redirect'];
export type CacheRules = components['schemas']['CacheRules'];

export const ofInstall = (installId: string) => ({ params: { path: { install_id: installId } } });

/** Loads who may visit an install. The answer has the password of visitors. */
export function useProtection(installId: string) {
  return useQuery({
    queryKey: ['rules', installId, 'protection'],
    queryFn: () => unwrap(hosting.GET('/installs/{install_id}/protection', ofInstall(installId))),
  });
}

/** Loads all redirects of an install, in their order. */
export const loadRedirects = (installId: string): Promise<Redirect[]> =>
  allPages((query) =>
    unwrap(
      hosting.GET('/installs/{install_id}/redirects', {
        params: { path: { install_id: installId }, query },
      }),
    ),
  );

export function useRedirects(installId: string) {
  return useQuery({
    queryKey: ['rules', installId, 'redirects'],
    queryFn: () => loadRedirects(installId),
  });
}

export function useCacheRules(installId: string) {
  return useQuery({
    queryKey: ['rules', installId, 'caching'],
    queryFn: () => unwrap(hosting.GET('/installs/{install_id}/cache_rules', ofInstall(installId))),
  });
}
