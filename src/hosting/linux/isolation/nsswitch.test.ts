import { describe, expect, it } from 'vitest';
import { withExtrausers } from './nsswitch.ts';

describe('nsswitch.conf', () => {
  it.each([
    ['passwd:         files systemd\n', 'passwd:         files extrausers systemd\n'],
    ['passwd: compat\n', 'passwd: compat extrausers\n'],
    [
      'passwd: files [NOTFOUND=return] ldap # here\n',
      'passwd: files extrausers [NOTFOUND=return] ldap # here\n',
    ],
    ['passwd: sss # files\n', 'passwd: sss extrausers # files\n'],
    ['group: files\n', 'group: files\npasswd: files extrausers\n'],
    ['#passwd: files\n', '#passwd: files\npasswd: files extrausers\n'],
    ['', 'passwd: files extrausers\n'],
    ['group: files', 'group: files\npasswd: files extrausers\n'],
  ])('adds the service to %j', (before, after) => {
    expect(withExtrausers(before, 'passwd')).toBe(after);
    expect(withExtrausers(after, 'passwd')).toBe(after);
  });

  it('changes only the line of its database', () => {
    const text = 'passwd: files\ngroup: files\nshadow: files\ngshadow: files\nhosts: files dns\n';
    expect(withExtrausers(text, 'shadow')).toBe(
      text.replace('\nshadow: files', '\nshadow: files extrausers'),
    );
  });
});
