import BoltIcon from '@heroicons/react/24/outline/BoltIcon';
import ChartBarIcon from '@heroicons/react/24/outline/ChartBarIcon';
import ClockIcon from '@heroicons/react/24/outline/ClockIcon';
import Cog6ToothIcon from '@heroicons/react/24/outline/Cog6ToothIcon';
import GlobeAltIcon from '@heroicons/react/24/outline/GlobeAltIcon';
import HomeIcon from '@heroicons/react/24/outline/HomeIcon';
import ServerStackIcon from '@heroicons/react/24/outline/ServerStackIcon';
import UsersIcon from '@heroicons/react/24/outline/UsersIcon';
import type { SessionAccount, Verb } from '../session/session.ts';
import type { Destination, Icon } from './navigation.tsx';

interface AccountPlace {
  /** Last segment of its address. */
  id: string;
  label: string;
  Icon: Icon;
  /** Beginning of the paths of the listed resources' own pages. */
  resources?: string;
  /** Only users who may do this see it. */
  needs?: Verb;
}

const PLACES: readonly AccountPlace[] = [
  { id: 'home', label: 'Home', Icon: HomeIcon },
  { id: 'sites', label: 'Sites', Icon: GlobeAltIcon, resources: '/sites/' },
  { id: 'installs', label: 'Installs', Icon: ServerStackIcon, resources: '/installs/' },
  { id: 'people', label: 'People', Icon: UsersIcon },
  { id: 'usage', label: 'Usage', Icon: ChartBarIcon },
  { id: 'webhooks', label: 'Webhooks', Icon: BoltIcon, needs: 'webhook.manage' },
  { id: 'activity', label: 'Activity', Icon: ClockIcon, needs: 'activity.read' },
  { id: 'settings', label: 'Settings', Icon: Cog6ToothIcon, needs: 'account.change' },
];

const placesOf = (account: SessionAccount) =>
  PLACES.filter(({ needs }) => needs === undefined || account.may[needs] !== 'none');

/** Returns the pages of an account for the sidebar. On the pages of an install, only those that list it. */
export function accountDestinations(account: SessionAccount, location: string): readonly Destination[] {
  const places = placesOf(account);
  const shown = location.startsWith('/installs/')
    ? places.filter(({ id, resources }) => id === 'home' || resources !== undefined)
    : places;
  return shown.map(({ id, label, Icon, resources }) => {
    const href = `/accounts/${account.id}/${id}`;
    const isBelow =
      location.startsWith(`${href}/`) || (resources !== undefined && location.startsWith(resources));
    return { href, label, Icon, current: location === href ? 'page' : isBelow ? 'true' : undefined };
  });
}

/** Returns where switching to `account` leads: to the same page of it, or to its home page without one. */
export function sameInAccount(account: SessionAccount, location: string): string {
  const [, section] = /^\/accounts\/[^/]+\/([^/]+)/.exec(location) ?? [];
  const isThere = placesOf(account).some(({ id }) => id === section);
  return `/accounts/${account.id}/${isThere ? section : 'home'}`;
}
