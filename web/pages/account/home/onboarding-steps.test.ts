import { expect, it } from 'vitest';
import { onboardingSteps } from './onboarding-steps.ts';

const nothing = {
  site: false,
  install: false,
  domain: false,
  backup: false,
  daily_backups: false,
  person: false,
};
const done = (steps: ReturnType<typeof onboardingSteps>) =>
  steps.filter(({ isDone }) => isDone).map(({ id }) => id);

it('the first steps of an account follow what it has', () => {
  expect(done(onboardingSteps(nothing))).toEqual([]);
  // Without an install, there is none to choose.
  expect(onboardingSteps(nothing).map(({ action }) => action)).toEqual([
    'Create a site',
    null,
    null,
    'Invite people',
  ]);
  const empty = onboardingSteps({ ...nothing, site: true });
  expect([done(empty), empty[0]?.action]).toEqual([[], 'Add an install']);
  expect(done(onboardingSteps({ ...nothing, site: true, install: true, person: true }))).toEqual([
    'site',
    'person',
  ]);
  expect(done(onboardingSteps({ ...nothing, install: true, daily_backups: true }))).toEqual(['backup']);
});
