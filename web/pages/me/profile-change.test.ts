import { expect, it } from 'vitest';
import { profileChange } from './profile-change.ts';

const ADA = { first_name: 'Ada', last_name: 'King', phone: 'at the Analytical Society' };

it('contains only changed fields', () => {
  expect(profileChange(ADA, ADA)).toEqual({});
  expect(profileChange(ADA, { ...ADA, first_name: 'Augusta' })).toEqual({ first_name: 'Augusta' });
  expect(profileChange(ADA, { ...ADA, last_name: 'Lovelace' })).toEqual({ last_name: 'Lovelace' });
});

it('treats an empty phone number as none', () => {
  expect(profileChange(ADA, { ...ADA, phone: ' ' })).toEqual({ phone: null });
  expect(profileChange({ ...ADA, phone: null }, { ...ADA, phone: '' })).toEqual({});
  expect(profileChange({ ...ADA, phone: null }, { ...ADA, phone: ' +49 30 1 ' })).toEqual({
    phone: '+49 30 1',
  });
});
