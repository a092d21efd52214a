// Prints the schemas of the installed @ag-ui/core as JSON: for each object its members, whether they are optional, and
// the strings that they may be; for each enumeration its strings.
import * as schemas from "@ag-ui/core/schemas";

const def = (s) => s?._zod?.def ?? s?._def ?? {};
const kind = (s) => String(def(s).typeName ?? def(s).type ?? "").replace(/^Zod/, "").toLowerCase();

function strings(s) {
  const d = def(s);
  switch (kind(s)) {
    case "literal": return [d.values ?? d.value].flat().filter((v) => typeof v === "string");
    case "enum": case "nativeenum": return Object.values(d.entries ?? d.values ?? {});
    case "optional": case "nullable": case "default": case "readonly": return strings(d.innerType);
    case "union": case "discriminatedunion": {
      const all = [...(d.options.values?.() ?? d.options)].map(strings);
      return all.some((one) => one.length === 0) ? [] : all.flat();
    }
    case "pipe": return strings(d.in);
    default: return [];
  }
}

function members(s) {
  const out = {};
  for (const [name, member] of Object.entries(s.shape)) {
    out[name] = { optional: member.safeParse(undefined).success, strings: strings(member) };
  }
  return out;
}

const out = { version: schemas.PROTOCOL_VERSION, objects: {}, enums: {} };
for (const [name, s] of Object.entries(schemas)) {
  if (kind(s) === "object") out.objects[name] = members(s);
  else if (strings(s).length > 0) out.enums[name] = strings(s);
}
console.log(JSON.stringify(out));
