import type { InstallRef } from './install-ref.ts';

/** Signs users in to the WordPress of a website. */
export interface LoginCreator {
  /**
   * Creates a login to the WordPress of a website, as the user of that name, or as the oldest administrator. Visiting
   * {@link LOGIN_PATH} with the token under a name of the website signs in, once and until it expires.
   */
  createLogin(install: InstallRef, user: string | null): Promise<WordPressLogin | LoginRefused>;
}

/** Where WordPress exchanges a login, with its token in the query. It works before other rules of the website for paths. */
export const LOGIN_PATH = '/.well-known/homeport-login';

export interface WordPressLogin {
  /** 256 random bits as base64url. The host keeps a hash only. */
  token: string;
  /** ISO 8601 in UTC. */
  expiresAt: string;
  /** The user name in WordPress. */
  user: string;
}

export interface LoginRefused {
  /** The website has no such user, or it cannot be signed in to at all. */
  refused: 'unknown_user' | 'website';
  /** In one or two sentences, for the website's owner. */
  reason: string;
}
