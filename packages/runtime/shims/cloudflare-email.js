// The Agents SDK imports this module; open-source workerd does not have it. Nothing here sends mail.
export class EmailMessage {
  constructor(from, to, raw) {
    Object.assign(this, { from, to, raw });
  }
}
