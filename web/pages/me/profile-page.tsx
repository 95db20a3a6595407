import { useQueryClient } from '@tanstack/react-query';
import { portal } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { SESSION_KEY } from '../../api/query-keys.ts';
import { TextField } from '../../components/fields.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { Page, Section } from '../../components/page.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { useSession } from '../../session/session.ts';
import { EmailSection } from './email-section.tsx';
import { profileChange } from './profile-change.ts';

export function ProfilePage() {
  const { user } = useSession();
  const queries = useQueryClient();

  async function save(values: FormData) {
    const body = profileChange(user, {
      first_name: textOf(values, 'first_name'),
      last_name: textOf(values, 'last_name'),
      phone: textOf(values, 'phone'),
    });
    await unwrap(portal.PATCH('/portal/api/profile', { body }));
    await queries.invalidateQueries({ queryKey: SESSION_KEY });
    showSuccess('Saved your profile.');
  }

  return (
    <Page title="Profile" subtitle="Other people in your accounts see this information.">
      <Section title="Personal details">
        <Form submitLabel="Save" onSubmit={save}>
          <TextField
            label="First name"
            name="first_name"
            autoComplete="given-name"
            defaultValue={user.first_name}
            maxLength={100}
            required
          />
          <TextField
            label="Last name"
            name="last_name"
            autoComplete="family-name"
            defaultValue={user.last_name}
            maxLength={100}
            required
          />
          <TextField
            label="Phone number"
            name="phone"
            type="tel"
            autoComplete="tel"
            defaultValue={user.phone ?? ''}
            maxLength={40}
            hint="Optional."
          />
        </Form>
      </Section>
      <EmailSection />
    </Page>
  );
}
