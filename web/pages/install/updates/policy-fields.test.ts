import { expect, it } from 'vitest';
import { describeWindow, policyChange, policyFields, suggestedWindow } from './policy-fields.ts';

const policy = {
  core: 'minor' as const,
  plugins: 'weekly' as const,
  themes: 'none' as const,
  maintenance_window: { days: ['sunday' as const], from_hour: 2, hours: 4, time_zone: 'Europe/Berlin' },
  pages: ['/shop/'],
  defer_wordpress_upgrades_until: null,
};

it('sends the edited fields', () => {
  const { maintenance_window } = policyFields(policy);
  expect(policyChange({ plugins: 'daily', pages: '/a/\n\n /b/ ' })).toEqual({
    plugins: 'daily',
    pages: ['/a/', '/b/'],
  });
  expect(policyChange({ maintenance_window })).toEqual({ maintenance_window: policy.maintenance_window });
  const reversed = { ...suggestedWindow(), days: ['sunday', 'monday'] as const, time_zone: ' UTC ' };
  expect(policyChange({ maintenance_window: reversed })).toEqual({
    maintenance_window: { days: ['monday', 'sunday'], from_hour: 2, hours: 4, time_zone: 'UTC' },
  });
  expect(policyChange({ maintenance_window: null })).toEqual({ maintenance_window: null });
});

it('says in words when updates are made', () => {
  expect(describeWindow(policyFields(policy).maintenance_window)).toBe(
    'sunday, from 2:00 for 4 hours, Europe/Berlin',
  );
  expect(describeWindow({ ...suggestedWindow(), time_zone: 'UTC' })).toBe(
    'every day, from 2:00 for 4 hours, UTC',
  );
  expect(describeWindow(null)).toBe('no maintenance window');
});
