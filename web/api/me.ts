import { useQuery } from '@tanstack/react-query';
import { allPages } from './all-pages.ts';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';

/** Query keys of the user's own settings. No live changes exist for them. */
export const SECOND_FACTOR_KEY = ['second-factor'] as const;
export const PASSKEYS_KEY = ['passkeys'] as const;
export const SESSIONS_KEY = ['sessions'] as const;
export const CREDENTIALS_KEY = ['credentials'] as const;
export const SSH_KEYS_KEY = ['ssh-keys'] as const;

export type SessionEntry = BodyOf<PortalPaths['/portal/api/sessions']['get']>['results'][number];
export type SecondFactor = BodyOf<PortalPaths['/portal/api/second_factor']['get']>;
export type Passkey = BodyOf<PortalPaths['/portal/api/passkeys']['get']>['results'][number];
export type Credential = BodyOf<PortalPaths['/portal/api/credentials']['get']>['results'][number];

export function useSecondFactor() {
  return useQuery({
    queryKey: SECOND_FACTOR_KEY,
    queryFn: () => unwrap(portal.GET('/portal/api/second_factor')),
  });
}

export function usePasskeys() {
  return useQuery({
    queryKey: PASSKEYS_KEY,
    queryFn: () => unwrap(portal.GET('/portal/api/passkeys')),
  });
}

export function useSessions() {
  return useQuery({
    queryKey: SESSIONS_KEY,
    queryFn: async () => (await unwrap(portal.GET('/portal/api/sessions'))).results,
  });
}

export function useCredentials() {
  return useQuery({
    queryKey: CREDENTIALS_KEY,
    queryFn: () => allPages((query) => unwrap(portal.GET('/portal/api/credentials', { params: { query } }))),
  });
}

/** Loads the certificate that API clients need to trust; null if a public authority issued it. */
export function useApiCertificate() {
  return useQuery({
    queryKey: ['api-certificate'],
    queryFn: async () => (await unwrap(portal.GET('/portal/api/api_certificate'))).certificate,
  });
}

export function useSshKeys() {
  return useQuery({
    queryKey: SSH_KEYS_KEY,
    queryFn: () => allPages((query) => unwrap(portal.GET('/portal/api/ssh_keys', { params: { query } }))),
  });
}
