import { describe, expect, it } from 'vitest';
import { PermanentHostError } from '../contract/errors.ts';
import { isArchiveName, parseZipLine, refuseForeign } from './archive.ts';

it('knows archives by their names', () => {
  expect(['a.zip', 'a.ZIP', 'a.tar.gz', 'a.tgz'].every(isArchiveName)).toBe(true);
  expect(['a', 'a.tar', 'a.zip.txt', 'zip', 'a.gz'].some(isArchiveName)).toBe(false);
});

describe('what the programs list', () => {
  it('is read with names as they are', () => {
    expect(parseZipLine('-rw-r--r--  3.0 unx      405 tx defN 20-Feb-06 06:33 wordpress/a b.php')).toEqual({
      type: '-',
      name: 'wordpress/a b.php',
    });
    expect(parseZipLine('drwx---     2.0 fat        0 b- stor 80-Jan-01 00:00 wordpress/').type).toBe('d');
    expect(parseZipLine('?rw-------  2.0 unx        1 b- stor 80-Jan-01 00:00 x')).toEqual({
      type: '-',
      name: 'x',
    });
  });

  it('is refused where it is not understood', () => {
    expect(() => parseZipLine('caution: filename')).toThrow(PermanentHostError);
  });
});

describe('refuseForeign', () => {
  it('lets folders and files pass', () => {
    refuseForeign('a.zip', [
      { type: 'd', name: 'wordpress/' },
      { type: '-', name: 'wordpress/..a/b..php' },
    ]);
  });

  it.each([
    ['l', 'wordpress/link', 'contains a link, wordpress/link'],
    ['h', 'wordpress/link', 'contains a link'],
    ['c', 'wordpress/null', 'neither a file nor a folder'],
    ['-', '/etc/passwd', 'leads outside: /etc/passwd'],
    ['-', 'wordpress/../../etc/passwd', 'leads outside'],
    ['d', '..', 'leads outside'],
    ['-', 'wordpress\\..\\x', 'leads outside'],
  ])('refuses %s %s', (type, name, message) => {
    expect(() =>
      refuseForeign('a.zip', [
        { type: '-', name: 'fine' },
        { type, name },
      ]),
    ).toThrow(message);
  });

  it('refuses an empty one', () => {
    expect(() => refuseForeign('a.zip', [])).toThrow('a.zip is empty');
  });
});
