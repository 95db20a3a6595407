import { useQuery } from '@tanstack/react-query';
import { allPages } from '../../api/all-pages.ts';
import { hosting, type PortalPaths, portal } from '../../api/client.ts';
import { answered } from '../../api/failure.ts';

/** The person's own things; no live change tells of them, since they change them here. */
export const SECOND_FACTOR_KEY = ['second-factor'] as const;
export const SESSIONS_KEY = ['sessions'] as const;
export const CREDENTIALS_KEY = ['credentials'] as const;
export const SSH_KEYS_KEY = ['ssh-keys'] as const;

type Answer<Path extends keyof PortalPaths> = PortalPaths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

export type SessionEntry = Answer<'/portal/api/sessions'>['results'][number];
export type SecondFactor = Answer<'/portal/api/second_factor'>;
export type Credential = Answer<'/portal/api/credentials'>['results'][number];

export function useSecondFactor() {
  return useQuery({
    queryKey: SECOND_FACTOR_KEY,
    queryFn: () => answered(portal.GET('/portal/api/second_factor')),
  });
}

export function useSessions() {
  return useQuery({
    queryKey: SESSIONS_KEY,
    queryFn: async () => (await answered(portal.GET('/portal/api/sessions'))).results,
  });
}

export function useCredentials() {
  return useQuery({
    queryKey: CREDENTIALS_KEY,
    queryFn: async () => (await answered(portal.GET('/portal/api/credentials'))).results,
  });
}

export function useSshKeys() {
  return useQuery({
    queryKey: SSH_KEYS_KEY,
    queryFn: () => allPages((query) => answered(hosting.GET('/ssh_keys', { params: { query } }))),
  });
}

/** Of one account, or of all that the person is in; without an id in its key every change of an install concerns it. */
export function useInstalls(accountId?: string) {
  const within = accountId === undefined ? {} : { account_id: accountId };
  return useQuery({
    queryKey: ['install', accountId, 'mine'],
    queryFn: () =>
      allPages((page) => answered(hosting.GET('/installs', { params: { query: { ...page, ...within } } }))),
  });
}
