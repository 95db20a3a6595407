import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LoginRefused, WordPressLogin } from '../../contract/wordpress-login.ts';

/** A real website with WordPress that answers. */
export interface LoginSite {
  /** The document root. */
  root: string;
  create(user: string | null): Promise<WordPressLogin | LoginRefused>;
  /** Opens the link with this token. */
  use(token: string): Promise<{ status: number; body: string }>;
}

/** Cases of logins that every runtime must pass. */
export function loginCases(site: () => LoginSite): void {
  describe('a login', () => {
    it('signs in the oldest administrator, once', async () => {
      const made = await site().create(null);
      if ('refused' in made) throw new Error(made.reason);
      expect(made).toMatchObject({ user: 'admin', token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) });
      expect(await site().use(made.token)).toMatchObject({ status: 302, body: '' });
      const second = await site().use(made.token);
      expect(second).toMatchObject({ status: 403, body: expect.stringContaining('This link was used') });
    });

    it('is for a user of the website', async () => {
      const made = await site().create('ADMIN');
      if ('refused' in made) throw new Error(made.reason);
      expect(made.user).toBe('admin');
      expect(await site().use(made.token)).toMatchObject({ status: 302 });
      expect(await site().create('no.body')).toEqual({
        refused: 'unknown_user',
        reason: 'WordPress has no user with the name "no.body".',
      });
      expect(await site().create("' OR 1=1 -- ")).toMatchObject({ refused: 'unknown_user' });
      expect(await site().create('--help')).toMatchObject({ refused: 'unknown_user' });
    });

    it('is refused with the reason if WordPress does not start', async () => {
      const config = join(site().root, 'wp-config.php');
      await rename(config, `${config}.off`);
      try {
        expect(await site().create(null)).toMatchObject({
          refused: 'website',
          reason: expect.stringContaining('wp-config.php'),
        });
        await writeFile(config, '<?php syntax error');
        expect(await site().create(null)).toMatchObject({
          refused: 'website',
          reason: expect.stringContaining('syntax error'),
        });
      } finally {
        await rename(`${config}.off`, config);
      }
    });
  });
}
