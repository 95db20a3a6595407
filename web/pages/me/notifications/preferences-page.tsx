import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import {
  choosePreference,
  PREFERENCES_KEY,
  type Preference,
  usePreferences,
} from '../../../api/notifications.ts';
import { SelectField } from '../../../components/fields.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Page, Section } from '../../../components/page.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { useSession } from '../../../session/session.ts';
import { NotificationTabs } from './notification-tabs.tsx';

const EMAILS = ['default', 'immediately', 'daily', 'never'] as const;

/** When the notifications of the signed-in user are emailed. */
export function NotificationPreferencesPage() {
  return (
    <Page title="Notification preferences" subtitle="They apply to all your accounts.">
      <NotificationTabs current="preferences" />
      <Emails />
      <Webhooks />
    </Page>
  );
}

function Emails() {
  const preferences = usePreferences();
  return (
    <Section title="Emails">
      <p>
        Your inbox has all notifications. Choose which of them you also get by email. The default sends an
        email at once if you own the account or started the work. Emails about your access, such as a new
        password, are always sent.
      </p>
      <Loaded query={preferences} what="preferences">
        {(all) => all.map((one) => <Choice key={one.category} preference={one} />)}
      </Loaded>
    </Section>
  );
}

function Choice({ preference }: { preference: Preference }) {
  const { category, title, description, email, default_email } = preference;
  const queries = useQueryClient();
  const isNever = default_email === 'never';

  const {
    mutate: choose,
    isPending,
    variables,
  } = useMutation({
    // One after the other, because each answer has all categories.
    scope: { id: 'notification-preferences' },
    mutationFn: (wanted: Preference['email']) => choosePreference({ category, email: wanted }),
    onSuccess: (all) => {
      queries.setQueryData(PREFERENCES_KEY, all);
      showSuccess('Saved your preferences.');
    },
    onError: showFailure,
  });
  const shown = isPending ? variables : email;

  return (
    <SelectField
      label={title}
      name={category}
      hint={description}
      value={shown === 'never' && isNever ? 'default' : shown}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        const wanted = EMAILS.find((one) => one === chosen);
        if (wanted !== undefined) choose(wanted);
      }}
      options={[
        {
          value: 'default',
          label: isNever ? 'Never (default)' : 'Websites you own and work you started, at once (default)',
        },
        { value: 'immediately', label: 'All, at once' },
        { value: 'daily', label: 'All, in one email a day' },
        ...(isNever ? [] : [{ value: 'never', label: 'Never' }]),
      ]}
    />
  );
}

function Webhooks() {
  const { accounts } = useSession();
  const managed = accounts.filter(({ may }) => may['webhook.manage'] !== 'none');
  return (
    <Section title="Webhooks">
      <p>Webhooks send the events of an account to your programs. They belong to the account, not to you.</p>
      {managed.length === 0 ? (
        <p>Owners and full users manage the webhooks of an account.</p>
      ) : (
        <ul>
          {managed.map(({ id, name }) => (
            <li key={id}>
              <Link href={`/accounts/${id}/webhooks`}>Webhooks of {name}</Link>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
