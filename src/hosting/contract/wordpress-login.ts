import Type, { type Static } from 'typebox';
import type { InstallRef } from './install-ref.ts';
import { sentences, time } from './message-values.ts';

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

/** A user name in WordPress has at most 60 characters. */
export const WordPressUserSchema = Type.String({
  minLength: 1,
  maxLength: 60,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
});

export const WordPressLoginSchema = Type.Object({
  /** 256 random bits as base64url. The host keeps a hash only. */
  token: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  expiresAt: time,
  /** The user name in WordPress. */
  user: WordPressUserSchema,
});
export type WordPressLogin = Static<typeof WordPressLoginSchema>;

export const LoginRefusedSchema = Type.Object({
  /** The website has no such user, or it cannot be signed in to at all. */
  refused: Type.Enum(['unknown_user', 'website']),
  /** In one or two sentences, for the website's owner. */
  reason: sentences,
});
export type LoginRefused = Static<typeof LoginRefusedSchema>;
