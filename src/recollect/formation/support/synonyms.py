"""
Synonym groups: words that may replace each other in a paraphrase.

Chinese and English words with the same meaning share a group, so that a note in one language can
rest on words in the other. Opposites never share a group. A topic group ("telescope", "astronomy")
covers names of interests, and labels derived from their parts.
"""

from typing import Final

GROUPS: Final = tuple(
    group.split()
    for group in """
    live lives lived living reside resides home house flat apartment address based settle settled
    move moved moving relocate relocated 住 居住 住在 现居 定居 搬 搬家 搬到 搬去 搬至 家住 租
    wohnt wohne zog vive vivo habite mora moro 住んで / work works worked working job employed
    employer employment occupation profession office boss company career employs colleague
    coworker 工作 上班 任职 就职 职业 公司 单位 从事 干 跑 当 做 打工 出勤 arbeitet arbeite
    trabaja trabajo travaille trabalha 働 / retire retired retirement pension 退休 退下来 /
    unemployed jobless laid redundant fired sacked 失业 待业 被裁 裁员 下岗 离职 辞职 / resign
    resigned quit quitting leave leaving left 辞职 离职 走人 不干 辞 离开 辞去 / boss manager
    supervisor chief lead 老板 上司 领导 经理 主管 老闆 / shop store retail boutique stall 店 商店
    铺 店铺 店面 小店 摊 / teacher teaches teaching teach tutor instructor professor lecturer
    school 老师 教师 教 教书 任教 授课 讲师 / student studies study studying college uni
    university school degree course major 学生 学习 读 读书 上学 就读 念书 念 大学 专业 课程 大一
    大二 大三 大四 研一 研二 / exam exams test tests midterm final quiz 考试 考 测验 测试 期末
    期中 应考 备考 / pass passed passing 通过 考过 过了 合格 及格 / fail failed failing flunk
    flunked 挂科 不及格 没过 失败 未通过 没考过 / learn learns learning learnt learned study
    practise practice practising 学 学习 练 练习 自学 / nurse nursing 护士 护理 护理师 / doctor
    physician gp medic surgeon hospital clinic medical 医生 大夫 医院 看病 就医 诊所 门诊 就诊 /
    dentist dental tooth teeth wisdom molar 牙医 牙科 牙 智齿 拔牙 牙齿 / vet veterinary
    veterinarian 兽医 宠物医院 / engineer engineering developer programmer coder programming
    coding software dev code 工程师 程序员 编程 代码 开发 码农 写代码 软件 / driver drives driving
    drive car vehicle 司机 开车 驾驶 车 汽车 驾照 自驾 车辆 / cook cooks cooking chef kitchen
    recipe recipes meal meals food dish dishes eat eats eating diet dietary nutrition 厨师 做饭
    做菜 烹饪 食谱 菜谱 饮食 吃 饭 菜 餐 用餐 下厨 料理 吃饭 饮食习惯 食物 食品 / restaurant
    restaurants dining dine eat bistro cafe diner 餐厅 餐馆 饭店 馆子 吃饭 聚餐 / drink drinks
    drinking drank beverage beverages coffee tea 喝 饮料 饮品 咖啡 茶 / alcohol alcoholic beer
    wine booze sober drinking drink 酒 饮酒 喝酒 戒酒 啤酒 酒精 / smoke smokes smoking smoker
    cigarette cigarettes tobacco vape 抽烟 吸烟 烟 戒烟 / vegetarian vegan meat veggie plant-based
    meatless 素食 吃素 素 不吃肉 荤 素食者 / dairy milk lactose cheese 乳制品 牛奶 奶 乳糖 奶制品
    / nut nuts peanut peanuts almond almonds walnut walnuts cashew hazelnut 坚果 花生 核桃 杏仁
    腰果 / seafood shellfish shrimp prawn crab fish 海鲜 虾 蟹 鱼 贝类 贝壳类 / coriander cilantro
    香菜 芫荽 / spicy hot chili chilli pepper 辣 辣椒 吃辣 重口 / gluten celiac coeliac wheat 麸质
    小麦 乳糜泻 celiaco / pet pets dog dogs cat cats puppy kitten animal animals hund haustier
    perro mascota chien 宠物 狗 猫 小狗 小猫 猫咪 动物 养 / breed terrier collie retriever poodle
    dog 品种 犬 狗 / mother mom mum mama mommy mutter madre mere 妈妈 母亲 妈 老妈 娘 / father dad
    papa daddy vater padre pere 爸爸 父亲 爸 老爸 爹 / parent parents mum mom dad mother father
    folks 父母 爸妈 双亲 爸爸 妈妈 / grandmother grandma gran granny nan nana 奶奶 外婆 姥姥 祖母
    外祖母 阿嬷 婆婆 / grandfather grandpa grandad granddad gramps 爷爷 外公 姥爷 祖父 外祖父 阿公
    / grandparent grandparents gran grandma grandpa 祖父母 爷爷 奶奶 / wife husband spouse partner
    missus hubby married marry marriage wedding bride groom engaged fiance fiancee fiancé fiancée
    妻子 丈夫 老婆 老公 太太 先生 爱人 配偶 媳妇 结婚 婚礼 婚姻 已婚 未婚妻 未婚夫 订婚 夫妻
    另一半 / girlfriend boyfriend partner bf gf relationship dating date couple together split
    broke breakup 女友 男友 女朋友 男朋友 对象 恋人 交往 恋爱 情侣 伴侣 分手 / divorce divorced
    separated ex split 离婚 离异 分居 前妻 前夫 / child children kid kids son daughter baby
    toddler boy girl twins 孩子 小孩 儿子 女儿 宝宝 娃 闺女 儿女 子女 双胞胎 小朋友 hijo hija sohn
    tochter kind fils fille filho filha / grandchild grandchildren grandson granddaughter 孙子
    孙女 外孙 / brother bro sibling siblings 哥哥 弟弟 哥 弟 兄弟 兄 bruder hermano / sister sis
    sibling siblings 姐姐 妹妹 姐 妹 姐妹 姊姊 schwester hermana / aunt uncle cousin nephew niece
    阿姨 叔叔 姑姑 舅舅 表哥 表弟 表姐 表妹 堂哥 侄子 侄女 外甥 / friend friends mate buddy pal
    bestie 朋友 好友 闺蜜 哥们 死党 好朋友 / roommate flatmate housemate roomie 室友 舍友 合租 /
    neighbour neighbor neighbours neighbors 邻居 隔壁 / landlord landlady rent rented tenancy
    lease rental renting 房东 房租 租金 租约 租房 月租 租赁 承租 / birth birthday born turn turned
    turning anniversary 生日 出生 过生日 周岁 / pregnant expecting pregnancy baby due 怀孕 孕妇
    保胎 安胎 产检 孕期 有孕 预产期 孕 / die died dead death passed funeral late deceased lost
    loss 去世 过世 死 离世 走了 葬礼 逝世 丧 / ill illness sick sickness disease unwell flu
    cold fever health 生病
    病 不舒服 感冒 发烧 流感 健康 患病 患 疾病 病情 身体 / diagnose diagnosed diagnosis confirmed
    确诊 诊断 查出 检查出 / injury injured hurt hurts broke broken fracture sprain sprained pulled
    受伤 骨折 扭伤 伤 摔伤 摔 / pain painful ache aches aching sore hurt hurts hurting 疼 痛 酸痛
    疼痛 / back spine lumbar disc 腰 腰椎 背 脊椎 / knee knees leg legs joint 膝盖 膝 腿 关节 /
    medicine medication meds pill pills tablet tablets drug prescription dose takes 药 药物 吃药
    服药 用药 药片 服用 / surgery operation operated surgical op 手术 开刀 动手术 / therapy
    therapist counselling counselor physio physiotherapy rehab 治疗 康复 理疗 心理咨询 复健 /
    sleep sleeps sleeping insomnia sleepless awake slept asleep 睡 睡眠 失眠 睡觉 入睡 睡着 /
    tired exhausted knackered fatigue fatigued drained worn 累 疲惫 疲劳 困 / nervous anxious
    anxiety worried worry worries scared afraid frightened terrified fear fears fearful stress
    stressed dread panic uneasy apprehensive phobia freaked 害怕 怕 紧张 担心 焦虑 恐惧 慌 不安
    担忧 压力 忧虑 恐 顾虑 发愁 恐高 / sad unhappy upset depressed down heartbroken miserable
    gutted low 难过 伤心 沮丧 郁闷 抑郁 低落 悲伤 失落 情绪低落 心情不好 / happy glad pleased
    delighted excited thrilled joy stoked chuffed proud 高兴 开心 快乐 兴奋 喜悦 自豪 满意 / angry
    annoyed mad furious irritated frustrated annoying bothered frustrating bugs 生气 愤怒 恼火 烦
    烦恼 气 不满 烦躁 / surprised shocked surprise surprising amazed 惊讶 吃惊 意外 惊喜 /
    difficult hard tough demanding challenging heavy struggle struggles struggling hopeless
    terrible bad poor trouble 难 困难 吃力 费劲 不擅长 不会 差 弱 糟糕 / easy simple simply
    beginner basic plain 简单 容易 入门 初学 新手 基础 通俗 易懂 小白 / skilled expert experienced
    good fluent proficient advanced 擅长 精通 熟练 拿手 高手 熟 熟悉 / stuff things tasks task
    work chores todo 事 事情 任务 / concentrate concentration focus focused attention brain 专心
    集中 注意力 / busy hectic swamped packed occupied overtime 忙 忙碌 加班 没空 繁忙 / free
    available spare 有空 空闲 空 闲 / cheap inexpensive affordable budget low-cost afford money
    save saving cost costs price expense expenses spend 便宜 实惠 预算 省钱 价格 费用 花费 花 开支
    支出 划算 性价比 / expensive pricey costly dear steep doubled 贵 昂贵 太贵 涨价 / salary wage
    wages pay paid earn earns earning income 工资 薪水 收入 月薪 薪资 年薪 挣 赚 / debt loan
    mortgage owe owes owed borrow borrowed credit 贷款 欠 房贷 债 借 欠款 负债 月供 / invest
    invests investing investment investments stock stocks fund funds savings shares pension 投资
    理财 股票 基金 存款 炒股 定投 / buy buys bought buying purchase purchased purchases purchasing
    got get order ordered 买 购买 购入 入手 订购 购置 采购 下单 提车 拿下 / sell sells sold
    selling sale 卖 出售 售出 卖掉 转让 / rent hire hired borrow lease 租 借 / own owns have has
    got possess 有 拥有 持有 / trip travel travels travelling traveling journey holiday holidays
    vacation tour visit visits visited visiting flying fly flight flights abroad tourist
    sightseeing getaway 旅行 旅游 出行 出游 旅程 度假 行程 假期 出差 玩 去玩 航班 机票 飞 旅途
    自由行 游玩 飞往 / arrive arrives arrived arrival land lands landing reach reaches 到 抵达
    到达 降落 到站 落地 / depart departs departure leave leaves leaving off 出发 离开 启程 走 /
    return returns returned returning back home 回 返回 回来 回国 回家 回程 返程 / hotel hotels
    hostel accommodation lodging stay stays airbnb guesthouse room booking 酒店 宾馆 民宿 住宿
    旅馆 旅店 房间 / book booked books booking reserve reserved reservation reservations 订 预订
    预约 预定 订好 订了 约 / ticket tickets fare pass 票 车票 机票 门票 / train trains railway
    rail station 火车 高铁 动车 列车 车站 / plane flight airport fly flying 飞机 航班 机场 飞 /
    bike bikes bicycle cycle cycles cycling cyclist ride rides riding 自行车 骑车 骑行 单车 骑 /
    motorbike motorcycle scooter ride rides 摩托 摩托车 机车 电动车 骑 / walk walks walking stroll
    hike hikes hiking hiker trail trails trek 散步 走路 徒步 爬山 登山 步行 远足 / run runs
    running runner jog jogs jogging marathon 跑步 跑 马拉松 慢跑 晨跑 跑者 / swim swims swimming
    swimmer pool 游泳 泳 / gym workout workouts exercise exercises exercising fitness train trains
    training lift lifting weights 健身 锻炼 运动 训练 健身房 撸铁 / climb climbs climbing climber
    bouldering boulder 攀岩 爬 攀登 抱石 / football soccer match team play plays 足球 球 踢球 比赛
    / basketball tennis badminton sport sports play plays 篮球 网球 羽毛球 运动 打球 球类 / yoga
    pilates stretch stretching 瑜伽 普拉提 拉伸 / dance dances dancing dancer 舞蹈 跳舞 舞 / sing
    sings singing singer choir song songs 唱歌 歌 合唱 歌手 唱 / music musical musician band
    guitar piano violin instrument play plays song songs 音乐 乐器 吉他 钢琴 乐队 弹 歌曲 听歌
    弹琴 小提琴 / film films movie movies cinema watch series tv show shows 电影 影片 看电影 剧
    电视剧 追剧 影视 看剧 / book books read reads reading reader novel novels author literature 书
    看书 阅读 小说 读书 书籍 文学 / game games gaming gamer video play plays 游戏 玩游戏 打游戏 /
    photo photos photograph photography photographer camera pictures picture 摄影 拍照 照片 相机
    拍 / paint paints painting painter draw draws drawing art artist sketch watercolour watercolor
    画 画画 绘画 艺术 美术 水彩 / garden gardens gardening plants plant grow grows growing
    vegetable vegetables balcony 花园 园艺 种 种植 种花 植物 种菜 阳台 养花 / fish fishing angling
    angler 钓鱼 垂钓 / telescope telescopes stargazing astronomy astronomer stars star moon sky
    planets 天文 望远镜 星空 观星 星星 / knit knitting sew sewing crochet craft crafts yarn 编织
    织 手工 缝纫 钩针 / bake bakes baking baked baker bread sourdough cake cakes 烘焙 烤 面包 蛋糕
    甜点 / write writes writing writer wrote novel story blog essay 写 写作 作家 文章 小说 撰写
    文案 / computer computers laptop pc hardware gpu graphics card machine 电脑 笔记本 显卡 硬件
    计算机 主机 / phone phones mobile smartphone iphone android 手机 电话 / linux ubuntu arch
    debian fedora distro 系统 操作系统 / internet web website site online network 网 网络 网站
    网上 上网 线上 / wheelchair disabled disability accessible accessibility step-free mobility
    轮椅 无障碍 残疾 行动不便 / blind deaf hearing sight 盲 聋 失明 听力 / pray prayer prayers
    praying church mosque temple religion religious faith muslim christian buddhist jewish ramadan
    信仰 宗教 祈祷 教会 斋月 封斋 穆斯林 回族 基督 佛教 信佛 清真 / brief short concise succinct
    terse quick quickly shorter summarised summarized one-line 简短 简洁 精简 短 简明 扼要
    言简意赅 长话短说 简要 别啰嗦 精炼 / long lengthy wall walls verbose waffle rambling detailed
    detail details thorough depth in-depth 长 详细 啰嗦 冗长 细 详尽 细致 深入 长篇 长篇大论 /
    formal informal casual polite friendly tone plain 正式 随意 口语 礼貌 语气 客套 客气 敬语 随便
    / bullet bullets list lists point points bulleted table tables 列表 要点 分点 表格 条列 /
    emoji emojis emoticon emoticons smiley 表情 表情符号 颜文字 / word words term terms jargon
    wording vocabulary 词 术语 用词 单词 词汇 字 / step steps step-by-step guide guides
    instructions tutorial 步骤 一步一步 教程 指南 分步 / example examples sample samples instance
    例子 示例 例句 举例 样例 / code snippet script program function 代码 程序 脚本 / translate
    translated translation language english french german spanish chinese 翻译 译 语言 英文 中文
    英语 日语 双语 / call calls called calling ring rings phone phones phoned dial 打电话 电话 /
    call calls called address addresses name names named nickname known 叫 称呼 名字 名叫 昵称
    小名 叫我 喊 / pronoun pronouns they them she he 代词 称谓 / avoid avoids avoiding skip skips
    exclude omit without stop stops leave refrain 避免 避开 别 不要 不用 免 别提 不提 勿 不必 /
    refuse refuses refused unwilling reject rejects declines declined decline won't 拒绝 不肯 不愿
    不接受 婉拒 / stop stopped stops quit quits quitting give gave up cancel cancels cancelled
    canceled cease ceased end ended finish finished over done drop dropped scrap scrapped 停 停止
    戒 戒了 放弃 取消 结束 不再 完 退 作罢 终止 断 / finish finished finishes complete completed
    completes done over wrapped 完成 做完 结束 完 搞定 收尾 看完 读完 / change changes changed
    changing switch switches switched replace replaced swap swapped instead move moved adjust
    postponed postpone rescheduled reschedule pushed delayed 换 改 改成 换成 更换 改为 变 调 转
    推迟 延期 改到 调整 变更 变动 / continue continues keep keeps still carry remain 继续 还 保持
    仍 / begin begins start starts started starting new join joined joining 开始 入职 新 加入 起
    上班 着手 / grow growing up raised brought childhood 长大 小时候 童年 成长 / born native
    originally hometown 出生 老家 家乡 籍贯 故乡 / big large huge massive 大 巨大 很大 / small
    tiny little mini 小 迷你 小型 / quiet silent noise noisy loud 安静 吵 噪音 吵闹 清静 / warm
    hot heat summer 热 炎热 怕热 暖 / cold cool freezing winter 冷 寒冷 怕冷 凉 / early dawn
    morning 早 清早 早起 一早 / late night evening overnight 晚 夜 夜里 熬夜 深夜 / weekly week
    every each 每周 每星期 一周 / monthly month every each 每月 一个月 每个月 / yearly annual
    annually year every each 每年 一年 / daily day every each everyday 每天 天天 每日 / often
    frequently regularly usual usually generally mostly always 经常 常 总 老是 常常 通常 一般 总是
    频繁 / rarely seldom hardly scarcely 很少 少 不常 偶尔 / deadline due submit submission hand
    deliver 截止 交 提交 期限 最后期限 ddl 交稿 / meeting meetings meet meets met call catch-up
    standup 会议 开会 会 见面 碰面 会面 例会 / interview interviews interviewed recruiter 面试
    应聘 求职 / project projects task tasks assignment thesis dissertation paper 项目 任务 论文
    课题 作业 毕设 / present presents presentation talk slides speech 演讲 报告 汇报 展示 答辩 /
    gift gifts present presents birthday 礼物 送礼 送 / party celebrate celebrates celebrating
    celebration wedding ceremony 聚会 庆祝 派对 庆生 婚礼 / invite invites invited invitation
    guest guests 邀请 请 客人 宾客 / child-care nursery kindergarten daycare school pupil 幼儿园
    托儿所 上学 学校 小学 中学 高中 初中 / military army soldier veteran service 当兵 服役 军队
    退伍 军人 兵役 / police court lawyer legal law sue solicitor 警察 律师 法院 法律 起诉 打官司 /
    fraud fraudulent scam scams swindle swindled swindler con conned 诈骗 欺诈 骗 诈欺 骗局 骗子 /
    steal steals stole stolen stealing theft thief rob robbed robbery burglary burgled mugged
    nicked 偷 盗 偷窃 被盗 失窃 窃 遭窃 抢 小偷 / crime criminal convicted conviction guilty
    sentenced prison jail arrested 犯罪 有罪 判刑 坐牢 入狱 逮捕 前科 定罪 被捕 /
    allergy allergic allergies
    allergen intolerant intolerance 过敏 不耐受 过敏原 过敏史 / anaphylaxis anaphylactic
    anaphalaxis shock epipen 过敏性休克 休克 / diabetes diabetic insulin sugar 糖尿病 血糖 胰岛素
    控糖 / pressure hypertension blood 高血压 血压 降压 / asthma inhaler breathing wheeze 哮喘
    气喘 / migraine migraines headache headaches 偏头痛 头痛 头疼 / weight weigh weighs overweight
    slim diet lose lost kilos 体重 减肥 瘦 减重 胖 斤 / height tall 身高 高 / weather rain rainy
    sunny snow 天气 下雨 雨 晴 雪 / sea ocean beach coast seaside 海 海边 海滩 沙滩 / mountain
    mountains hill hills peak alps 山 山上 高山 / city town village downtown centre center suburb
    城市 市区 镇 村 城里 市中心 郊区 / country abroad overseas foreign emigrate immigrate 国外
    出国 海外 移民 国家 / visa passport permit residency 签证 护照 居留 绿卡 / bank banks banking
    account 银行 账户 存 / insurance insured policy premium 保险 投保 医保 / tax taxes return
    filing 税 报税 税务 / furniture sofa table chair desk bed 家具 沙发 桌 椅 床 / renovate
    renovation renovating refurbish decorate decorating repair repairs fix fixing redo redoing
    装修 翻新 修 修理 维修 改造 / clean cleans cleaning tidy tidying chores housework 打扫 清洁
    家务 收拾 整理 / wear wears wearing clothes clothing outfit dress shoes size 穿 衣服 衣 鞋
    尺码 码 / color colour colors colours red blue green black white grey gray 颜色 色 红 蓝 绿 黑
    白 / left-handed lefty handed 左撇子 左手 / glasses lens lenses eyes sight 眼镜 眼睛 近视 视力
    / hair beard bald haircut 头发 胡子 发型 / tattoo tattoos piercing 纹身 / lesson lessons class
    classes course courses workshop tutor tutoring 课 上课 课程 补习 班 培训 补课 / group groups
    team club society 群 团队 社团 俱乐部 小组 / leader chair head president captain 负责人 组长
    队长 班长 会长 / colleague colleagues coworker coworkers workmate 同事 / customer customers
    client clients 客户 顾客 客人 / supplier vendor caterer 供应商 商家 / product products item
    items goods 产品 商品 / app apps application software tool 应用 软件 工具 程序 / password
    login account 密码 账号 登录 / email emails mail mails inbox 邮件 邮箱 电子邮件 / news
    newspaper article articles magazine headline 新闻 报纸 文章 杂志 报道 / politics political
    election vote party 政治 选举 投票 / opinion view think believe find 看法 观点 认为 觉得 /
    important serious matter priority urgent 重要 要紧 严重 优先 紧急 / dangerous risk risky safe
    safety 危险 风险 安全 / broken broke faulty damaged crashed crash error fails bug 坏 坏了 故障
    出错 报错 崩溃 损坏 / lost lose missing misplace 丢 丢失 不见 遗失 / forget forgets forgot
    forgotten remind reminder reminders 忘 忘记 忘了 提醒 / remember remembers remembered memory
    recall 记 记住 记得 / wait waits waiting queue 等 等待 排队 / hope hopes wish wishes dream
    希望 盼 梦想 愿望 / doubt unsure uncertain sure confirm confirmed check checked 确定 不确定
    确认 核实 怀疑 未定 检查 查 / maybe perhaps possibly might may probably could 可能 也许 或许
    大概 说不定 没准 好像 似乎 疑似 怀疑 / unconfirmed tentative provisional 未确认 暂定 待定
    不一定 没定 / apparently supposedly heard rumour rumor rumours says told claims according
    reported hearsay 听说 据说 据 说 听 / prefer prefers preferred favourite favorite rather
    preference like likes love loves enjoy enjoys fan fond keen adore adores into 喜欢 偏好 爱
    喜爱 偏爱 最爱 热爱 钟爱 爱好 感兴趣 爱吃 爱喝 爱看 喜好 宁可 宁愿 mag liebt gusta gustan aime
    gosta / dislike dislikes hate hates detest detests loathe loathes stand bear can't awful 讨厌
    不喜欢 受不了 厌恶 反感 烦 不爱 恶心 / want wants wish wishes would like plan plans going
    gonna hope intends intend aims 想 要 想要 打算 希望 计划 准备 预计 拟 / need needs require
    requires must 需要 需 要 必须 得 / able can could manage manages 能 能够 可以 会 / help helps
    assist support advice tips suggestions ideas 帮 帮忙 帮助 建议 支招 出主意 / weekday weekdays
    workday weekend weekends saturday sunday 工作日 周末 平日 周六 周日 双休 / first initially
    debut maiden 首次 第一次 第一 初次 头一次 / only sole solely just single alone 只 仅 唯一 单独
    独自 一个人 / both two pair twin twins 两 两个 俩 双 / half middle mid 一半 半 中间 / dozen
    twelve twelfth 十二 / double twice doubled two 两倍 翻倍 双倍 / nothing none zero no not 没
    没有 无 零 / company firm startup start-up business corporation enterprise 公司 企业 创业 单位
    厂 工厂 / farm farmer farming cattle cows crops 农场 农民 种地 养殖 / build builds building
    built construct construction builder 建 盖 建筑 工地 施工 / design designs designer designing
    设计 设计师 / cite cites cited citing citation citations source sources reference references
    quote 引用 文献 来源 出处 / accountant accounting accounts bookkeeper 会计 财务 / sales
    salesman salesperson selling marketing 销售 推销 营销 / delivery deliver delivers courier
    rider parcel takeaway 外卖 快递 送货 骑手 送餐 外卖员 配送 / barber hairdresser salon stylist
    理发 理发师 美发 / librarian library 图书馆 图书管理员 / pilot captain cockpit 飞行员 / actor
    actress acting theatre theater stage play 演员 表演 戏剧 话剧 演戏 / journalist reporter
    editor press 记者 编辑 媒体 / scientist research researcher lab laboratory phd postdoc 科学家
    研究 研究员 实验室 博士 博士生 / electrician plumber carpenter mechanic joiner 电工 水管工
    木工 修车 / firefighter paramedic ambulance emergency 消防员 急救 / volunteer volunteers
    volunteering charity 志愿者 义工 公益 志愿 / soup stew broth noodles rice pasta 汤 面 米饭 粥
    面条 / breakfast lunch dinner supper brunch snack snacks 早餐 午餐 晚餐 早饭 午饭 晚饭 夜宵
    零食 宵夜 / sweet sweets dessert sugar chocolate candy 甜 甜食 糖 巧克力 甜品 / fruit fruits
    apple apples banana berries 水果 苹果 / vegetable vegetables veg greens salad 蔬菜 青菜 菜
    沙拉 / meat beef pork chicken lamb steak 肉 牛肉 猪肉 鸡肉 羊肉 / egg eggs 鸡蛋 蛋 / bread
    toast loaf 面包 / coffee espresso latte cappuccino caffeine 咖啡 拿铁 咖啡因 美式 / tea green
    oolong matcha 茶 喝茶 绿茶 奶茶 / water hydration 水 喝水 / season spring summer autumn fall
    winter 季节 春 夏 秋 冬 / jigsaw jigsaws puzzle puzzles 拼图 / board chess cards card 棋 象棋
    围棋 下棋 桌游 牌 麻将 / bird birds birdwatching birding 鸟 观鸟 / horse horses riding
    equestrian 马 骑马 / dinosaur dinosaurs 恐龙 / sun sunshine sunlight sunburn 太阳 日照 阳光
    日晒 晒 / arctic northern aurora lights 极光 / ski skis skiing snowboard snowboarding slopes
    滑雪 雪 / sail sails sailing boat boats rowing row rows rower 帆船 船 划船 航海 rudert
    ruderclub / park parks playground 公园 / museum museums gallery exhibition 博物馆 展览 美术馆
    看展 / concert concerts gig gigs festival live 演唱会 音乐会 音乐节 / subscription subscribe
    subscribed membership member 订阅 会员 套餐 / bill bills invoice fee fees fine fined penalty
    ticket 账单 费 罚款 罚 罚单 缴费 手续费 / tow towed towing impound 拖吊 拖车 / contract
    contracts agreement sign signed 合同 签约 签 协议 合约 / promote promoted promotion raise 升职
    晋升 涨薪 加薪 升 / shift shifts rota nights roster 班 排班 夜班 轮班 倒班 早班 / remote
    remotely home wfh hybrid 远程 居家办公 在家办公 在家 / commute commutes commuting 通勤 上下班
    / intern internship placement apprentice 实习 实习生 / graduate graduated graduates graduation
    graduating 毕业 毕业生 / scholarship grant bursary 奖学金 助学金 / abroad exchange semester
    erasmus 交换 留学 出国 / tall height high 高 / elderly old senior aged 老人 年迈 老年 高龄
    长辈 / young youth teenager teen 年轻 青年 少年 / lonely alone isolated single 孤独 寂寞 单身
    一个人 独居 / argument argue argued row quarrel fight fought 吵架 争吵 矛盾 冷战 / apologise
    apologize sorry apology 道歉 抱歉 对不起 / trust honest lie lied 信任 诚实 撒谎 / gossip
    secret secrets private privacy 秘密 隐私 私密 / lottery win won prize winning winner 中奖 赢
    奖 / lose lost losing defeat defeated 输 失 败
    """.split("/")
)
"""Groups of words, lower case, Chinese in its simplified form; a stroke stands between two."""
