import type { Onboarding } from '../../../api/overview.ts';

export interface Step {
  id: string;
  title: string;
  words: string;
  isDone: boolean;
  /** Page of the account where the user takes the step. */
  place: 'sites' | 'new-site' | 'installs' | 'people';
  /** The words of its button; null while another step has to come first. */
  action: string | null;
}

/** Returns the first steps in an account, in their order. */
export function onboardingSteps({
  site,
  install,
  domain,
  backup,
  daily_backups,
  person,
}: Onboarding): readonly Step[] {
  return [
    {
      id: 'site',
      title: 'Create your first site',
      words: 'A site is one website. Give it an install for production, and others for staging.',
      isDone: site && install,
      place: site ? 'sites' : 'new-site',
      action: site ? 'Add an install' : 'Create a site',
    },
    {
      id: 'domain',
      title: 'Add your domain',
      words: 'Open an install and choose Domains. We show the DNS records that you need.',
      isDone: domain,
      place: 'installs',
      action: install ? 'Choose an install' : null,
    },
    {
      id: 'backup',
      title: daily_backups ? 'Daily backups are on' : 'Create a backup',
      words: daily_backups
        ? 'Every install is backed up each night. You can create a backup at any time.'
        : 'Open an install and choose Backups. Homeport reads back what a backup stores, and verifies it.',
      isDone: backup || (daily_backups && install),
      place: 'installs',
      action: install ? 'Choose an install' : null,
    },
    {
      id: 'person',
      title: 'Invite a colleague',
      words: 'Choose what they may do, and which installs they see.',
      isDone: person,
      place: 'people',
      action: 'Invite people',
    },
  ];
}
