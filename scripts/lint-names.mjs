// A lint rule of our own: limits are named max… and min…, with their unit.
const forbidden = /^(?:most|longest|deepest|smallest|fewest)(?:[A-Z]|$)/;

const limitNames = {
  create(context) {
    const check = (node) => {
      if (node?.type === "Identifier" && forbidden.test(node.name))
        context.report({ node, message: `Name limits max… or min…, with their unit, not “${node.name}”.` });
    };
    return {
      VariableDeclarator: ({ id }) => check(id),
      PropertyDefinition: ({ key }) => check(key),
      TSPropertySignature: ({ key }) => check(key),
    };
  },
};

export default { meta: { name: "thinkery" }, rules: { "limit-names": limitNames } };
