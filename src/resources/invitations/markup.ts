import { SHORTEST_PASSWORD } from '../../passwords.ts';
import type { OpenInvitation } from './service.ts';

/** The page with the form; `fault` is what was wrong with what was sent before. */
export function invitationPage(invitation: OpenInvitation, fault?: string): string {
  const account = escapeHtml(invitation.account_name);
  const password = invitation.has_password
    ? '<p>You have a password already; it stays as it is.</p>'
    : `<label>Password <input type="password" name="password" autocomplete="new-password" minlength="${SHORTEST_PASSWORD}" required autofocus></label>
       <label>The same again <input type="password" name="repeated" autocomplete="new-password" minlength="${SHORTEST_PASSWORD}" required></label>`;
  return page(
    `Invitation to ${account}`,
    `<h1>Welcome, ${escapeHtml(invitation.first_name)}</h1>
     <p>You are invited to the hosting account <strong>${account}</strong> as ${escapeHtml(invitation.email)}.</p>
     ${fault === undefined ? '' : `<p class="fault" role="alert">${escapeHtml(fault)}</p>`}
     <form method="post">${password}<button>Accept the invitation</button></form>`,
  );
}

export function acceptedPage(invitation: OpenInvitation): string {
  const account = escapeHtml(invitation.account_name);
  return page(
    'Invitation accepted',
    `<h1>You are in</h1><p>You are now a user of <strong>${account}</strong>. You may close this page.</p>`,
  );
}

export function expiredPage(): string {
  return page(
    'Invitation expired',
    `<h1>This invitation cannot be used</h1>
     <p>It was used already, has expired, or was withdrawn. Ask whoever invited you to send another one.</p>`,
  );
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Homeport</title>
<style>
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 28rem; margin: 12vh auto; padding: 0 1rem; }
  label { display: block; margin: 1rem 0; }
  input { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; }
  button { font: inherit; padding: .6rem 1rem; }
  .fault { border-left: .25rem solid #c33; padding-left: .75rem; }
</style>
<main>${content}</main>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
