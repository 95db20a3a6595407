import { expect, test } from 'vitest';
import { BrokenWebsiteError } from '../../contract/errors.ts';
import { PhpFailure } from '../../runtime/wasm/php-sites.ts';
import { blamingWebsite, FailedScriptError } from './broken-website.ts';

const failed = (output: string) => new FailedScriptError('replace-urls.php failed', output);

test.each([
  [
    failed(
      'Notice: x\nPHP Fatal error:  Uncaught TypeError in /wordpress/wp-content/plugins/a/a.php:3\n#0 y',
    ),
    'The PHP of the website failed: Uncaught TypeError in wp-content/plugins/a/a.php:3.',
  ],
  [failed(''), 'The PHP of the website failed: it printed nothing.'],
  [
    new PhpFailure('timeout', 'the request took longer than 60 s'),
    'The PHP of the website did not end in time.',
  ],
  [new PhpFailure('memory', 'too much'), 'The PHP of the website needed more memory than it may have.'],
])('names what the owner can fix: %s', async (error, message) => {
  const blamed = blamingWebsite(Promise.reject(error));
  await expect(blamed).rejects.toBeInstanceOf(BrokenWebsiteError);
  await expect(blamed).rejects.toThrow(message);
  await expect(blamed).rejects.toThrow('deactivate the plugin or theme');
});

test.each([
  new PhpFailure('busy', 'too many websites are in use'),
  new PhpFailure('failed', 'PHP did not start'),
  failed('SQLSTATE[HY000]: General error: 13 database or disk is full'),
  Object.assign(new Error('write'), { code: 'ENOSPC' }),
])('leaves what another attempt or the provider can fix: %s', async (error) => {
  await expect(blamingWebsite(Promise.reject(error))).rejects.toBe(error);
});
